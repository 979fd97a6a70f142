"""Why tests of the official ACTS suite fail: the one table for `acts_suite.py` and docs/checks.md."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

MOCK, PYTHON, JAVASCRIPT = "mock", "a2a-sdk", "@a2a-js/sdk"
NO_CAPABILITIES = "no capabilities"
JSONRPC, REST, GRPC = "jsonrpc", "rest", "grpc"


class Fault(StrEnum):
    """Whose fault a failure is."""

    SUITE = "suite"
    AGENT = "agent"


class Failure(NamedTuple):
    """A test that failed on an agent over a transport; `run` is the name of the run."""

    test: str
    run: str
    transport: str


@dataclass(frozen=True)
class Explanation:
    """Why tests fail: on these agents (default: all) and over these transports (default: all that they run over).

    `agents` are parts of the names of runs. Sections are those of A2A 1.0.1.
    """

    tests: tuple[str, ...]
    fault: Fault
    why: str
    agents: tuple[str, ...] = ()
    transports: tuple[str, ...] = ()

    def covers(self, failure: Failure) -> bool:
        """Return whether this explains a failure."""
        return (
            failure.test in self.tests
            and (not self.agents or any(name in failure.run for name in self.agents))
            and (not self.transports or failure.transport in self.transports)
        )


EXPLANATIONS = (
    Explanation(("CARD-DISC-002",), Fault.SUITE, "expects the binding `REST`; 1.0 has `HTTP+JSON` (section 4.4.6)"),
    Explanation(
        ("CORE-SEND-004",),
        Fault.SUITE,
        "sends the media type in the metadata, not in `mediaType` (section 4.1.6); an agent may accept any type",
    ),
    Explanation(
        ("CORE-HIST-005",),
        Fault.SUITE,
        "expects only messages of the user in the history; it contains those of the agent, too (section 3.7)",
    ),
    Explanation(("CORE-CTX-001",), Fault.SUITE, "an agent may accept a contextId of the client (section 3.4.1)"),
    Explanation(("CORE-ERR-007",), Fault.SUITE, "expects an object; 1.0 has an array of details (sections 9.5, 11.6)"),
    Explanation(
        ("VER-NEG-002",),
        Fault.SUITE,
        "sends `SendMessage` without a version, which means 0.3; an agent without 0.3 has to reject it (section 3.6.2)",
    ),
    Explanation(
        ("DM-FMT-001", "DM-EXTRA-001", "JSONRPC-ENV-001", "JSONRPC-CT-001", "JSONRPC-SSE-001"),
        Fault.SUITE,
        "sends a raw message without the required `messageId` (section 4.1.4)",
    ),
    Explanation(
        ("DM-FMT-003",),
        Fault.SUITE,
        "an agent may generate a contextId, and then has to return it (section 3.4.1)",
    ),
    Explanation(
        ("DM-ART-003", "DM-ART-004"),
        Fault.SUITE,
        "expects the members `file` and `fileUrl`; a part has `raw` and `url` (section 4.1.6)",
    ),
    Explanation(("REST-PD-001",), Fault.SUITE, "expects problem details; 1.0 has `google.rpc.Status` (section 11.6)"),
    Explanation(
        ("SEC-AUTH-006",),
        Fault.SUITE,
        "accepts the status 200 for the public card, but not the card; the card may be public (section 8.2)",
    ),
    Explanation(
        ("CORE-CAP-001", "PUSH-CFG-004"),
        Fault.SUITE,
        "expects UnsupportedOperationError; 1.0 requires PushNotificationNotSupportedError (section 3.3.4)",
        agents=(NO_CAPABILITIES,),
    ),
    Explanation(
        (
            *("STREAM-SSE-001", "STREAM-SSE-002", "STREAM-SSE-003", "STREAM-SSE-004", "STREAM-SUB-001"),
            *("STREAM-SUB-002", "STREAM-MSG-001", "STREAM-MULTI-001", "STREAM-MULTI-002", "STREAM-RESUB-001"),
            "GRPC-STREAM-001",
        ),
        Fault.SUITE,
        "lacks the precondition `streaming`; an agent without it has to reject streams (section 3.3.4)",
        agents=(NO_CAPABILITIES,),
    ),
    Explanation(
        ("SEC-EXTCARD-001", "SEC-EXTCARD-004"),
        Fault.AGENT,
        "the test agent serves an extended card, but has no authentication (section 13.3), which the SDK does not have",
        agents=(PYTHON,),
    ),
    Explanation(
        (
            *("PUSH-CFG-001", "PUSH-CFG-002", "PUSH-CFG-003", "PUSH-LIST-001", "PUSH-IDEM-001"),
            *("PUSH-DELIV-001", "PUSH-DELIV-002", "PUSH-DELIV-003", "SEC-PUSH-001", "SEC-PUSH-002"),
        ),
        Fault.SUITE,
        "expects the status 200 for a new or deleted push configuration; the SDK sends 201 and 204, 1.0 defines none "
        "(section 11.3.3)",
        agents=(JAVASCRIPT,),
        transports=(REST,),
    ),
)


def explained(failure: Failure) -> Explanation | None:
    """Return the explanation of a failure, None if there is none."""
    return next((explanation for explanation in EXPLANATIONS if explanation.covers(failure)), None)


def table(explanations: Iterable[Explanation] = EXPLANATIONS) -> str:
    """Return the explanations as a Markdown table."""
    rows = ["| test | agent, transport | fault | why |", "|---|---|---|---|"]
    for explanation in explanations:
        where = ", ".join((*(explanation.agents or ("all",)), *explanation.transports))
        rows.append(f"| {', '.join(explanation.tests)} | {where} | {explanation.fault} | {explanation.why} |")
    return "\n".join(rows)
