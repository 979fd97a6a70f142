"""The steps of a test, each with the key that it needs: operation, raw, client_response or assertion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, Tag, ValidationInfo

from inspector.protocol.model import Json
from inspector.protocol.operations import STREAMING, Operation
from inspector.session.check.condition import Condition
from inspector.session.check.document.expected import Assertion, Expect, ExpectError, ExpectStream
from inspector.session.check.document.extension import StepExtension
from inspector.session.check.document.node import EXTENSION, Expected, Node, Path

CARD = "get_agent_card"

OPERATIONS: Mapping[str, Operation] = {
    "send_message": Operation.SEND,
    "send_streaming_message": Operation.STREAM,
    "get_task": Operation.GET,
    "list_tasks": Operation.LIST,
    "cancel_task": Operation.CANCEL,
    "subscribe_to_task": Operation.SUBSCRIBE,
    "get_extended_agent_card": Operation.EXTENDED_CARD,
    "create_push_config": Operation.SET_PUSH,
    "get_push_config": Operation.GET_PUSH,
    "list_push_configs": Operation.LIST_PUSH,
    "delete_push_config": Operation.DELETE_PUSH,
    # the names in the official suite
    "set_push_notification_config": Operation.SET_PUSH,
    "get_push_notification_config": Operation.GET_PUSH,
    "list_push_notification_configs": Operation.LIST_PUSH,
    "delete_push_notification_config": Operation.DELETE_PUSH,
}
"""The operation of each abstract operation, except `get_agent_card`."""


def _check_condition(value: str) -> str:
    if "{{" not in value:
        Condition.of(value)
    return value


class Repeat(Node):
    """Repeat a step until a condition is met: `path == value`, `path != value` or `path in [value, ...]`."""

    until: Annotated[str, AfterValidator(_check_condition)]
    max_attempts: int = Field(default=10, gt=0, le=10_000)
    delay_ms: int = Field(default=1000, ge=0)
    backoff: Literal["none", "linear", "exponential"] = "none"

    def delay(self, attempt: int) -> float:
        """Return the seconds to wait after an attempt, which counts from 1."""
        factors = {"none": 1, "linear": attempt, "exponential": int(2 ** min(attempt - 1, 16))}
        return self.delay_ms * factors[self.backoff] / 1000


class RawRequest(Node):
    """An HTTP request; `path` is appended to the URL of the interface."""

    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    headers: dict[str, str] = {}
    body: Json = None
    body_raw: str | None = None


class ClientResponse(Node):
    """A response that the client has to read, as it is sent over the wire."""

    operation: str
    wire_payload: Json


class _Step(Node):
    id: str = Field(min_length=1)
    description: str = ""
    assertions: list[Assertion] = []
    delay_ms: int = Field(default=0, ge=0)


# Validators of members see the members before them, and run although another member has a mistake, which those of
# models do not.


def _check_alone(value: ExpectError | None, info: ValidationInfo) -> ExpectError | None:
    if value is not None and info.data.get("expect") is not None:
        raise ValueError("a step has either expect or expect_error")
    return value


def _check_operation(value: str, info: ValidationInfo) -> str:
    if value not in OPERATIONS and value != CARD:
        raise ValueError(f"unknown operation {value!r}; known: {CARD}, {', '.join(OPERATIONS)}")
    if info.data.get("expect_stream") is not None and OPERATIONS.get(value) not in STREAMING:
        raise ValueError(f"{value} has no stream, so that it cannot have expect_stream")
    return value


class _ServerStep(_Step):
    expect: Expect | None = None
    expect_error: Annotated[ExpectError | None, AfterValidator(_check_alone)] = None
    expect_stream: ExpectStream | None = None
    capture: dict[str, Path] = {}
    repeat: Repeat | None = None
    extension: StepExtension | None = Field(default=None, alias=EXTENSION)


class OperationStep(_ServerStep):
    """Call an operation."""

    operation: Annotated[str, AfterValidator(_check_operation)]
    params: dict[str, Json] = {}

    @property
    def summary(self) -> str:
        """The name of the operation in A2A."""
        return "GetAgentCard" if self.operation == CARD else OPERATIONS[self.operation].value


class RawStep(_ServerStep):
    """Send an HTTP request."""

    raw: RawRequest

    @property
    def summary(self) -> str:
        """The method and the path."""
        return f"{self.raw.method} {self.raw.path}"


class ClientStep(_Step):
    """Read a response with our client."""

    client_response: ClientResponse
    expect_parsed: Expected

    @property
    def summary(self) -> str:
        """What is read."""
        return f"read a response to {self.client_response.operation}"


class AssertionStep(_Step):
    """Check an earlier result."""

    assertion: Assertion

    @property
    def summary(self) -> str:
        """The source of the value that is checked."""
        return f"assertion about {self.assertion.source}"


_KINDS = {"operation": OperationStep, "raw": RawStep, "client_response": ClientStep, "assertion": AssertionStep}
STEP_TAGS = frozenset(f"<{name}>" for name in _KINDS)
"""The words that pydantic inserts into the location of an error in a step."""


def _kind_of(value: Any) -> str | None:
    """Return the tag of a step by its key."""
    names = value if isinstance(value, dict) else getattr(type(value), "model_fields", ())
    found = [name for name in _KINDS if name in names]
    return f"<{found[0]}>" if found else None


Step: TypeAlias = Annotated[
    Annotated[OperationStep, Tag("<operation>")]
    | Annotated[RawStep, Tag("<raw>")]
    | Annotated[ClientStep, Tag("<client_response>")]
    | Annotated[AssertionStep, Tag("<assertion>")],
    Discriminator(
        _kind_of,
        custom_error_type="step",
        custom_error_message="a step needs one of the keys operation, raw, client_response and assertion",
    ),
]
