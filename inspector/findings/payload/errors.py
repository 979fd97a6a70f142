"""Rules about the objects that describe errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from inspector.findings.payload.facts import Steps
from inspector.findings.rule_set import ERROR, NEWEST_FIRST, V1, WARNING, RuleSet, Violation
from inspector.protocol.dialects.registry import traits_of
from inspector.protocol.dialects.traits import Traits
from inspector.protocol.errors import BY_CODE, BY_REASON, DOMAIN, ErrorKind
from inspector.protocol.jsonvalue import brief, type_name
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer

_INFO = "google.rpc.ErrorInfo"
_OWN_CODES = range(-32099, -32000)
_KEPT_CODES = range(-32768, -32099)
"""The codes that JSON-RPC reserves. Five of them are defined."""


@dataclass(frozen=True)
class ErrorObject:
    """The error object of a response; `steps` lead to it in the payload, `status` is that of HTTP."""

    value: Mapping[str, Json]
    version: str
    binding: str
    steps: Steps = ()
    status: int = 0

    @property
    def code(self) -> int | None:
        """Return the JSON-RPC code, None if there is none or the binding is another."""
        code = self.value.get("code")
        return code if self.binding == "JSONRPC" and type(code) is int else None

    @property
    def place(self) -> str:
        """Return the name of the member with the details, which depends on the binding."""
        return "data" if self.binding == "JSONRPC" else "details"

    def info(self) -> tuple[str, Mapping[str, Json]] | None:
        """Return the ErrorInfo with its pointer, None if there is none."""
        listed = self.value.get(self.place)
        for number, detail in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(detail, dict) and _type(detail).endswith(_INFO):
                return pointer(*self.steps, self.place, number), detail
        return None

    @property
    def traits(self) -> Traits:
        """Return the traits of the protocol version over the binding."""
        return traits_of(self.version, self.binding)

    def kind(self) -> ErrorKind | None:
        """Return the error of the protocol version that has this code."""
        code = self.code
        return None if code is None or (code in _OWN_CODES and code < self.traits.last_error) else BY_CODE.get(code)


RULE_SET = RuleSet[ErrorObject](versions=V1)
"""The examples of these rules are errors of JSON-RPC."""


def _type(detail: Mapping[str, Json]) -> str:
    said = detail.get("@type")
    return said if isinstance(said, str) else ""


def _info(**changes: Json) -> Json:
    whole: dict[str, Json] = {
        "@type": f"type.googleapis.com/{_INFO}",
        "reason": "TASK_NOT_FOUND",
        "domain": DOMAIN,
    }
    return [{name: one for name, one in {**whole, **changes}.items() if one is not None}]


def _error(**changes: Json) -> Json:
    whole: dict[str, Json] = {"code": -32001, "message": "There is no such task.", "data": _info()}
    return {name: one for name, one in {**whole, **changes}.items() if one is not None}


@RULE_SET.rule(
    "ERROR-001",
    ERROR,
    "An error without a message",
    section="JSON-RPC 2.0 §5.1, 1.0 §3.3.2, §11.6",
    requirement="All error responses MUST convey an error code and a message.",
    remedy="Say in a sentence what is wrong: it is what people see.",
    failing=_error(message=None),
    passing=_error(),
    versions=NEWEST_FIRST,
)
def no_message(error: ErrorObject) -> Iterator[Violation]:
    said = error.value.get("message")
    if not isinstance(said, str) and (error.binding == "JSONRPC" or error.traits.details_errors):
        seen = "message is missing" if said is None else f"message is {type_name(said)}"
        yield Violation(pointer(*error.steps, "message"), seen)


@RULE_SET.rule(
    "ERROR-002",
    ERROR,
    "The details of an error are not what the protocol version makes them",
    section="1.0 §3.3.2, §9.5, §11.6",
    requirement="An array of objects; each object MUST include a @type key that identifies the object's type.",
    remedy="Send an array of objects with @type; structured details go into google.rpc.BadRequest or ErrorInfo.",
    failing=_error(data={"taskId": "t-1"}),
    passing=_error(),
)
def untyped_details(error: ErrorObject) -> Iterator[Violation]:
    listed = error.value.get(error.place)
    if listed is not None and not isinstance(listed, list):
        yield Violation(pointer(*error.steps, error.place), f"an array is due, this is {brief(listed)}")
    for number, detail in enumerate(listed if isinstance(listed, list) else ()):
        where = pointer(*error.steps, error.place, number)
        if not isinstance(detail, dict):
            yield Violation(where, "an object is due")
        elif not _type(detail):
            yield Violation(f"{where}/@type", "@type is missing")


@RULE_SET.rule(
    "ERROR-003",
    WARNING,
    "An error of A2A does not name itself",
    section="1.0 §9.5, §5.4",
    requirement="1.0.0: MUST include a google.rpc.ErrorInfo; 1.0.1: SHOULD.",
    remedy="Add an ErrorInfo whose reason is the error's name in capitals.",
    failing=_error(data=None),
    passing=_error(),
)
def no_info(error: ErrorObject) -> Iterator[Violation]:
    untyped = not isinstance(error.value.get("data", []), list)  # ERROR-002 reports it
    if error.code is not None and error.code in _OWN_CODES and error.info() is None and not untyped:
        kind = error.kind()
        yield Violation(pointer(*error.steps, "data"), f"{kind.name if kind else error.code} without an ErrorInfo")


@RULE_SET.rule(
    "ERROR-004",
    ERROR,
    "The ErrorInfo names another error than the code",
    section="1.0 §3.3.2, §3.3.4, §5.4, §9.5, §11.6",
    requirement='reason: the A2A error type in UPPER_SNAKE_CASE without the "Error" suffix.',
    remedy="Make code and reason agree with the table of errors.",
    failing=_error(data=_info(reason="TASK_NOT_CANCELABLE")),
    passing=_error(),
)
def other_reason(error: ErrorObject) -> Iterator[Violation]:
    info = error.info()
    if info is None:
        return
    where, detail = info
    reason, kind = detail.get("reason"), error.kind()
    if not isinstance(reason, str) or not reason:
        yield Violation(f"{where}/reason", "reason is missing")
    elif kind is not None and error.code in _OWN_CODES and reason != kind.reason:
        yield Violation(f"{where}/reason", f"{reason[:80]} with {error.code}, {kind.reason} is due")
    elif error.binding != "JSONRPC" and detail.get("domain") == DOMAIN and reason not in BY_REASON:
        yield Violation(f"{where}/reason", f"{reason[:80]} is no error of A2A")


@RULE_SET.rule(
    "ERROR-005",
    ERROR,
    "The ErrorInfo of an A2A error has another domain",
    section="1.0 §9.5, §11.6",
    requirement='domain: set to "a2a-protocol.org".',
    remedy="Set the domain; clients tell A2A's reasons from others' by it.",
    failing=_error(data=_info(domain="example.com")),
    passing=_error(),
)
def other_domain(error: ErrorObject) -> Iterator[Violation]:
    info = error.info()
    if info is None:
        return
    where, detail = info
    reason = detail.get("reason")
    if isinstance(reason, str) and reason in BY_REASON and detail.get("domain") != DOMAIN:
        said = detail.get("domain")
        yield Violation(f"{where}/domain", "domain is missing" if said is None else brief(said))


@RULE_SET.rule(
    "ERROR-006",
    WARNING,
    "A code that the protocol version does not have",
    section="1.0 §3.3.2, §3.3.4, §5.4; 0.3 §8.2, 0.1 §8.2; JSON-RPC 2.0 §5.1",
    requirement="A2A-specific errors use the codes of their table, in the range -32001 to -32099.",
    remedy="Use a code of the table, or one outside of the range that JSON-RPC and A2A keep for themselves.",
    failing=_error(code=-32050, data=None),
    passing=_error(code=-31000, data=None),
    versions=NEWEST_FIRST,
)
def foreign_code(error: ErrorObject) -> Iterator[Violation]:
    code = error.code
    if code is not None and code in _KEPT_CODES and code not in BY_CODE:
        yield Violation(pointer(*error.steps, "code"), f"{code}, which JSON-RPC keeps for later")
    if code is None or code not in _OWN_CODES:
        return
    if code < error.traits.last_error:
        yield Violation(pointer(*error.steps, "code"), f"{code} in {error.version}")
