"""Rules about error objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.findings.payload.facts import Steps
from inspector.findings.rule_set import ERROR, NEWEST_FIRST, V1, WARNING, RuleSet, Violation
from inspector.lazy_dataclass import dataclass
from inspector.protocol.dialects.registry import traits_of
from inspector.protocol.dialects.traits import Traits
from inspector.protocol.errors import BY_CODE, BY_REASON, DOMAIN, ErrorKind, kind_identified_by
from inspector.protocol.jsonvalue import brief, type_name
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer

_ERROR_INFO = "google.rpc.ErrorInfo"
_A2A_CODES = range(-32099, -32000)
_RESERVED_CODES = range(-32768, -32099)
"""The codes that JSON-RPC reserves; it defines five of them."""


@dataclass(frozen=True)
class ErrorObject:
    """The error object of a response; `steps` lead to it in the payload."""

    value: Mapping[str, Json]
    version: str
    binding: str
    steps: Steps = ()

    @property
    def code(self) -> int | None:
        """Return the JSON-RPC error code, None if it is missing or the binding is not JSON-RPC."""
        code = self.value.get("code")
        return code if self.binding == "JSONRPC" and type(code) is int else None

    @property
    def place(self) -> str:
        """Return the name of the member with the details: `data` in JSON-RPC, `details` in HTTP+JSON."""
        return "data" if self.binding == "JSONRPC" else "details"

    def info(self) -> tuple[str, Mapping[str, Json]] | None:
        """Return the JSON pointer to the ErrorInfo, and the ErrorInfo itself; None if there is none."""
        listed = self.value.get(self.place)
        for number, detail in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(detail, dict) and _type(detail).endswith(_ERROR_INFO):
                return pointer(*self.steps, self.place, number), detail
        return None

    @property
    def traits(self) -> Traits:
        """Return the `Traits` of the protocol version over the binding."""
        return traits_of(self.version, self.binding)

    def kind(self) -> ErrorKind | None:
        """Return the error with this code in the protocol version, None if the version does not define the code."""
        code = self.code
        return None if code is None or (code in _A2A_CODES and code < self.traits.last_error) else BY_CODE.get(code)


RULE_SET = RuleSet[ErrorObject](versions=V1)
"""The examples of these rules are JSON-RPC errors."""


def _type(detail: Mapping[str, Json]) -> str:
    name = detail.get("@type")
    return name if isinstance(name, str) else ""


def _info(**changes: Json) -> Json:
    whole: dict[str, Json] = {
        "@type": f"type.googleapis.com/{_ERROR_INFO}",
        "reason": "TASK_NOT_FOUND",
        "domain": DOMAIN,
    }
    return [{name: value for name, value in {**whole, **changes}.items() if value is not None}]


def _error(**changes: Json) -> Json:
    whole: dict[str, Json] = {"code": -32001, "message": "There is no such task.", "data": _info()}
    return {name: value for name, value in {**whole, **changes}.items() if value is not None}


@RULE_SET.rule(
    "ERROR-001",
    ERROR,
    "An error has no message",
    section="JSON-RPC 2.0 §5.1, 1.0 §3.3.2, §11.6",
    requirement="Error responses MUST include an error code and a message.",
    remedy="Set message to a sentence that explains the error: people read it.",
    failing=_error(message=None),
    passing=_error(),
    versions=NEWEST_FIRST,
)
def no_message(error: ErrorObject) -> Iterator[Violation]:
    message = error.value.get("message")
    if not isinstance(message, str) and (error.binding == "JSONRPC" or error.traits.details_errors):
        seen = "message is missing" if message is None else f"message is {type_name(message)}"
        yield Violation(pointer(*error.steps, "message"), seen)


@RULE_SET.rule(
    "ERROR-002",
    ERROR,
    "The details of an error have the wrong shape",
    section="1.0 §3.3.2, §9.5, §11.6",
    requirement="The details are an array of objects; each object MUST include @type, which identifies its type.",
    remedy="Send an array of objects with @type; use google.rpc.BadRequest or ErrorInfo for structured details.",
    failing=_error(data={"taskId": "t-1"}),
    passing=_error(),
)
def untyped_details(error: ErrorObject) -> Iterator[Violation]:
    details = error.value.get(error.place)
    if details is not None and not isinstance(details, list):
        yield Violation(pointer(*error.steps, error.place), f"expected an array, found {brief(details)}")
    for number, detail in enumerate(details if isinstance(details, list) else ()):
        where = pointer(*error.steps, error.place, number)
        if not isinstance(detail, dict):
            yield Violation(where, f"expected an object, found {brief(detail)}")
        elif not _type(detail):
            yield Violation(f"{where}/@type", "@type is missing")


@RULE_SET.rule(
    "ERROR-003",
    WARNING,
    "An A2A error has no ErrorInfo",
    section="1.0 §9.5, §5.4",
    requirement="A2A errors MUST (since 1.0.1: SHOULD) include a google.rpc.ErrorInfo.",
    remedy="Add an ErrorInfo whose reason is the name of the error in UPPER_SNAKE_CASE.",
    failing=_error(data=None),
    passing=_error(),
)
def no_info(error: ErrorObject) -> Iterator[Violation]:
    untyped = not isinstance(error.value.get("data", []), list)  # ERROR-002 reports it
    if error.code is not None and error.code in _A2A_CODES and error.info() is None and not untyped:
        kind = error.kind()
        yield Violation(pointer(*error.steps, "data"), f"{kind.name if kind else error.code} has no ErrorInfo")


@RULE_SET.rule(
    "ERROR-004",
    ERROR,
    "The ErrorInfo names another error than the code",
    section="1.0 §3.3.2, §3.3.4, §5.4, §9.5, §11.6",
    requirement="reason is the A2A error type in UPPER_SNAKE_CASE without the suffix Error.",
    remedy="Change code or reason, so that both match the table of errors.",
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
    elif kind is not None and error.code in _A2A_CODES and reason != kind.reason:
        yield Violation(f"{where}/reason", f"reason is {reason[:80]}, expected {kind.reason} for {error.code}")
    elif error.binding != "JSONRPC" and detail.get("domain") == DOMAIN and reason not in BY_REASON:
        yield Violation(f"{where}/reason", f"{reason[:80]} is not an A2A error")


@RULE_SET.rule(
    "ERROR-005",
    ERROR,
    "The ErrorInfo of an A2A error has the wrong domain",
    section="1.0 §9.5, §11.6",
    requirement="domain is a2a-protocol.org.",
    remedy="Set domain to a2a-protocol.org; clients recognize A2A errors by it.",
    failing=_error(data=_info(domain="example.com")),
    passing=_error(),
)
def other_domain(error: ErrorObject) -> Iterator[Violation]:
    info = error.info()
    if info is None:
        return
    where, detail = info
    domain = detail.get("domain")
    if kind_identified_by(detail) is not None and domain != DOMAIN:
        yield Violation(f"{where}/domain", "domain is missing" if domain is None else f"domain is {brief(domain)}")


@RULE_SET.rule(
    "ERROR-006",
    WARNING,
    "An error code is not defined in the protocol version",
    section="1.0 §3.3.2, §3.3.4, §5.4; 0.3 §8.2, 0.1 §8.2; JSON-RPC 2.0 §5.1",
    requirement="A2A errors use the codes of their table, in the range -32001 to -32099.",
    remedy="Use a code of the table, or a code outside the range that JSON-RPC and A2A reserve.",
    failing=_error(code=-32050, data=None),
    passing=_error(code=-31000, data=None),
    versions=NEWEST_FIRST,
)
def foreign_code(error: ErrorObject) -> Iterator[Violation]:
    code = error.code
    if code is not None and code in _RESERVED_CODES and code not in BY_CODE:
        yield Violation(pointer(*error.steps, "code"), f"{code} is reserved by JSON-RPC")
    if code is None or code not in _A2A_CODES:
        return
    if code < error.traits.last_error:
        yield Violation(pointer(*error.steps, "code"), f"{code} is not defined in {error.version}")
