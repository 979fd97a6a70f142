"""The doctor dialog: the verdict, one line for each interface, the card, and what was declared and observed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from inspector.protocol.errors import Fault, FaultCode, FaultKind, Whose
from inspector.session.doctor.credentials import LOG_IN
from inspector.session.doctor.steps import NEEDS_MESSAGE, Comparison, Report, Step
from inspector.tui.render.glyphs import UNICODE
from inspector.tui.screens.doctor import paragraphs

URL = "http://127.0.0.1:1/"
DENIED = Fault(Whose.YOURS, FaultCode.CREDENTIALS_MISSING, "credentials are required")


def card_at(path: str, passed: bool | None, message: str, seconds: float = 0.0) -> Step:
    return Step(f"card at {path}", passed, message, seconds, card_path=path)


def address(name: str, url: str, passed: bool, seen: str, seconds: float = 0.0, remedy: str = "") -> Step:
    message = f"{url}: {seen}"
    return Step(f"{name} address", passed, message, seconds, remedy, interface=name, url=url)


def answer(name: str, url: str, passed: bool, message: str, seconds: float = 0.0, remedy: str = "") -> Step:
    protocol = "1.0 over JSONRPC"
    about = {"interface": name, "url": url, "protocol": protocol}
    return Step(f"{name} as {protocol}", passed, message, seconds, remedy, **about)


GOOD = [
    Step("name", True, "127.0.0.1", 0.001),
    card_at("/.well-known/agent-card.json", True, "200 application/json: a card", 0.01),
    card_at("/.well-known/agent.json", None, "404 text/plain", 0.01),
    Step("card content", True, "Puppet, an A2A 1.0 card: no errors or warnings"),
    address("interface 1", URL, True, "connected", 0.002),
    answer("interface 1", URL, True, "returned TaskNotFoundError, as expected", 0.003),
]


def lines(*steps: Step, comparisons: list[Comparison] | None = None, done: bool = True) -> list[str]:
    report = Report("http://127.0.0.1:1", list(steps), comparisons=comparisons or [])
    return [f"{line.head[0]}{line.text}".rstrip() for line in paragraphs(report, UNICODE, done=done)]


def test_the_verdict_is_first_and_each_interface_has_one_line():
    assert lines(*GOOD) == [
        "✓ 4 checks passed",
        "",
        "✓ name           1 ms  127.0.0.1",
        "✓ card          10 ms  /.well-known/agent-card.json: 200 application/json: a card",
        "✓ card content         Puppet, an A2A 1.0 card: no errors or warnings",
        "✓ interface 1    5 ms  1.0 over JSONRPC  http://127.0.0.1:1/",
    ]


def test_a_failed_interface_is_named_with_its_cause_and_its_remedy():
    refused = address("interface 2", "http://127.0.0.1:2/", False, "refused", 0.001, "Start it.")
    shown = lines(*GOOD, refused)
    assert shown[0] == "✕ 1 of 5 checks failed: interface 2"
    assert shown[-2:] == ["✕ interface 2    1 ms  http://127.0.0.1:2/: refused", f"{'':23}Start it."]


@pytest.mark.parametrize(
    ("remedy", "only_options", "shown"),
    [
        (LOG_IN, True, "Press esc, then C, to log in or to enter a secret."),
        ("Add --basic USER:PASSWORD.", True, "Press esc, then C, to log in or to enter a secret."),
        ("Get a new token.", False, "Get a new token. Press esc, then C, to log in or to enter a secret."),
    ],
)
def test_missing_credentials_are_entered_with_keys_and_not_with_options(remedy: str, only_options: bool, shown: str):
    about: dict[str, Any] = {"fault": DENIED, "only_options": only_options}
    for step in (
        replace(answer("interface 2", "http://h/", False, "credentials are required", 0.0, remedy), **about),
        Step("card", False, "the card requires credentials", 0.0, remedy, **about),
    ):
        assert lines(*GOOD, step)[-1].strip() == shown


def test_a_missing_client_certificate_is_an_option():
    remedy = "Add --client-cert FILE (PEM or PKCS#12)."
    fault = replace(DENIED, code=FaultCode.AUTH_FAILED, kind=FaultKind.CLIENT_CERTIFICATE)
    step = Step("tls", False, "The server requires a client certificate.", 0.0, remedy, fault=fault)
    assert lines(*GOOD, step)[-1].strip() == remedy


def test_a_remedy_names_keys_only_if_the_credentials_are_the_cause():
    step = answer("interface 2", "http://h/", False, "it says: credentials are required", 0.0, "See its log.")
    assert lines(*GOOD, step)[-1].strip() == "See its log."


def test_the_url_of_an_interface_is_shown_once():
    step = address("interface 1", "http://h:0", False, "it has no valid host or port")
    assert lines(step)[-1].split(maxsplit=3)[-1] == "http://h:0: it has no valid host or port"


def test_a_note_about_an_interface_that_passed_is_shown_with_its_remedy():
    url = "http://h/rpc"
    note = address("interface 1", url, True, "connected; not below http://h/a", 0.0, "declare the proxy")
    text = "\n".join(lines(note, answer("interface 1", url, True, "as expected")))
    assert "connected; not below http://h/a" in text
    assert "declare the proxy" in text
    text = "\n".join(lines(note, answer("interface 1", url, False, "no", 0.0, "see its log")))
    assert "see its log" in text
    assert "declare the proxy" not in text


def test_without_a_card_every_url_is_listed():
    tries = [card_at(path, None, "404 text/plain") for path in ("/a", "/b")]
    shown = lines(*tries, Step("card", False, "no card at any of these URLs"))
    assert [line.split()[1:3] for line in shown[2:4]] == [["card", "/a:"], ["card", "/b:"]]


def test_the_findings_of_the_card_are_reached_by_a_key():
    shown = lines(Step("card content", False, "CARD-001 no name", 0.0, "Run a2a-inspect card get --validate"))
    assert shown[-1].strip() == "Press 6 in the main screen to see all findings."


def test_before_the_end_there_is_no_verdict():
    assert lines(*GOOD, done=False)[0].endswith("Checking ...")


def test_declared_and_observed_are_columns():
    long = "none required; the card declares a bearer token"
    shown = lines(
        comparisons=[
            Comparison("streaming", "yes", NEEDS_MESSAGE, None),
            Comparison("credentials", long, "not required", None),
        ]
    )
    assert shown[-4:] == [
        "  FEATURE      DECLARED  OBSERVED",
        "· streaming    yes       not checked here: after a message, the Agent view shows it",
        f"· credentials  {long}",
        f"{'':25}not required",
    ]
