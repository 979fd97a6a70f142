"""Read and write the table of the doctor in `docs/compatibility.md`: agents, proxies and wrong URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import environments
from proxies import Habits

from inspector.session.doctor.steps import Report

HEADING = "## Doctor"

PYTHON, JAVASCRIPT = "Python", "JavaScript"
_VALID = "valid"


@dataclass(frozen=True)
class Case:
    """An agent, or something between the doctor and the agent, with the expected verdict.

    - `agent`: the environment of the agent.
    - `habits`: the proxy in front of it, None for none; `tls`: the proxy uses TLS.
    - `entered`: the URL for the doctor, with `{url}`, `{netloc}`, `{grpc}` and `{http2}`.
    - `expected`: the verdict and the reason; `words`: what the result must contain.
    """

    expected: str = _VALID
    words: str = ""
    agent: str = "v1"
    habits: Habits | None = None
    tls: bool = False
    entered: str = "{url}"

    @property
    def passed(self) -> bool:
        """Return whether the doctor should call the agent valid."""
        return self.expected.startswith(_VALID)


def _name(name: str) -> str:
    sdk = environments.ALL[name]
    return f"{JAVASCRIPT if sdk.node else PYTHON} SDK {sdk.release}"


_AGENTS = {_name(name): Case(agent=name) for name in environments.ALL}

CASES: Mapping[str, Case] = {
    **_AGENTS,
    "proxy": Case(habits=Habits()),
    "proxy that compresses with gzip": Case(habits=Habits(gzip=True)),
    "proxy with TLS": Case(habits=Habits(), tls=True),
    "proxy with a path prefix": Case(habits=Habits(prefix="/agents/one")),
    "proxy with a path prefix, the card has the URLs behind it": Case(
        "valid; calls bypass the proxy",
        "where the card is: calls do not pass through a proxy there",
        habits=Habits(prefix="/agents/one", card_url=""),
    ),
    "proxy with a path prefix, the card lacks the prefix": Case(
        "invalid; the URLs with the prefix are proposed",
        "Proposal: the card has http://127.0.0.1:PORT/, but the interface responded at http://127.0.0.1:PORT/agents/one/",
        habits=Habits(prefix="/agents/one", card_url="http://{netloc}"),
    ),
    "proxy, the card has an internal host": Case(
        "invalid; the public URLs are proposed",
        "Advertise the public address, perhaps http://127.0.0.1:PORT/.",
        habits=Habits(card_url="http://agent.internal:8080"),
    ),
    "proxy with TLS, the card has http": Case(
        "invalid; the card needs https",
        "Use https:// instead of http://.",
        habits=Habits(card_url="http://{netloc}"),
        tls=True,
    ),
    "proxy that ends streams early": Case("invalid; STREAM-001", "STREAM-001", habits=Habits(cut=0.5)),
    "proxy that buffers streams": Case("invalid; the stream is buffered", "buffered: ", habits=Habits(buffer=True)),
    "proxy that sends streams as text/plain": Case(
        "invalid; wrong Content-Type", "Send Content-Type: text/event-stream.", habits=Habits(media_type="text/plain")
    ),
    "proxy that removes the Content-Type of streams": Case(
        "invalid; wrong Content-Type",
        "Send Content-Type: text/event-stream.",
        habits=Habits(media_type="application/octet-stream"),
    ),
    "404 for one operation of a reached agent": Case(
        "invalid; the operation is missing",
        "the agent does not have SendStreamingMessage there",
        habits=Habits(missing=("SendStreamingMessage",)),
    ),
    "500 with the words of the agent": Case(
        "invalid; the words of the agent",
        "the model is overloaded",
        habits=Habits(broken={"SendStreamingMessage": "the model is overloaded"}),
    ),
    "http:// for a port with TLS": Case(
        "invalid; use https", "Use https:// instead of http://.", habits=Habits(), tls=True, entered="http://{netloc}"
    ),
    "https:// for a port without TLS": Case(
        "invalid; use http", "Use http:// instead of https://.", entered="https://{netloc}"
    ),
    "the port of gRPC": Case("invalid; use the port for HTTP", "gRPC port of the agent", entered="http://{grpc}"),
    "a port with HTTP/2 only": Case(
        "invalid; HTTP/1.1 is needed", "The port uses only HTTP/2, without TLS.", entered="{http2}"
    ),
    "a port with HTTP/2 only, with TLS": Case(
        "invalid; HTTP/1.1 is needed", "The port uses only HTTP/2, with TLS.", entered="{http2}", tls=True
    ),
}
"""The rows; a proxy is in front of the Python SDK of 1.0, and a wrong URL is that of its agent."""

_VARYING = (
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"\bport \d+"), "port PORT"),
    (re.compile(r"\b\d+(\.\d+ s| ms)\b"), "TIME"),
    (re.compile(r"\b\d+ events\b"), "N events"),
)


def seen(report: Report, case: Case) -> str:
    """Return the verdict, the first failed step, its remedy and the first proposal, without what varies.

    The message of the step can depend on the operating system; it is left out unless the case needs it.
    """
    failed = next((step for step in report.steps if step.passed is False), None)
    noted = (step for step in report.steps if step.passed and case.words and case.words in step.message)
    step = failed or next(noted, None)
    words = "valid" if report.passed else "invalid"
    if step is not None:
        message = f": {step.message.rstrip('.')}" if case.words in step.message else ""
        words += f": {step.name}{message}. Remedy: {step.remedy}"
    if report.proposals:
        words += f" Proposal: {report.proposals[0].reason}."
    for pattern, replacement in _VARYING:
        words = pattern.sub(replacement, words)
    return words.replace("|", "/").replace("<", "&lt;")


def render(results: Mapping[str, str]) -> str:
    """Return the table as Markdown; a missing result is a question mark."""
    rows = [f"| {name} | {case.expected} | {results.get(name, '?')} |" for name, case in CASES.items()]
    return "\n".join(("| agent, proxy or URL | expected | seen |", "| --- | --- | --- |", *rows))


def read(text: str) -> dict[str, str]:
    """Read the results from the content of the file; they are empty without the table."""
    _, found, section = text.partition(HEADING)
    lines = section.partition("\n## ")[0].splitlines() if found else []
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return {row[0]: row[2] for row in rows[2:]}
