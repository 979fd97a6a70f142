"""The content of a check file: suites, tests and steps in the grammar of ACTS 0.1 (A2A Conformance Test Specification).

Our additions are below the key `x-a2a-inspect`, which other runners ignore. Forms that the official suite uses beside
those of the specification are accepted, too: an `expect` without `body`, and `code` for `error_type`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from inspector.protocol.model import Json
from inspector.protocol.operations import STREAMING, Operation
from inspector.session.check import paths
from inspector.session.check.condition import Condition

EXTENSION = "x-a2a-inspect"
"""The key of our additions to a test or a step."""

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


class Level(StrEnum):
    """The conformance level of a test, as in RFC 2119."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"


class Transport(StrEnum):
    """The name of a binding in a check file."""

    JSONRPC = "jsonrpc"
    GRPC = "grpc"
    REST = "rest"

    @property
    def binding(self) -> str:
        """Return the name of the binding on a card."""
        return "HTTP+JSON" if self is Transport.REST else self.value.upper()


class Requirement(StrEnum):
    """What a test needs from the runner."""

    WEBHOOK = "webhook_endpoint"
    CONCURRENT_STREAMS = "concurrent_streams"
    STREAM_DISCONNECT = "stream_disconnect"
    AUTH_CREDENTIALS = "auth_credentials"
    HEADER_INSPECTION = "header_inspection"


class Node(BaseModel):
    """The base of all parts of a check file: immutable, with the types of YAML, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _without_other_extensions(cls, value: object) -> object:
        """Remove the extensions of other runners."""
        if not isinstance(value, dict):
            return value
        return {name: item for name, item in value.items() if not str(name).startswith("x-") or name == EXTENSION}


def _member(kind: type[StrEnum]) -> BeforeValidator:
    """Return a validator that reads the members of an enumeration from their values, which strict mode forbids."""

    def read(value: object) -> object:
        member = next((member for member in kind if member == value), None)
        if member is None:
            raise ValueError(f"{value!r} is not one of {', '.join(kind)}")
        return member

    return BeforeValidator(read)


Levels: TypeAlias = Annotated[Level, _member(Level)]
Transports: TypeAlias = Annotated[Transport, _member(Transport)]
Requirements: TypeAlias = Annotated[Requirement, _member(Requirement)]


def _check_path(value: str) -> str:
    paths.parse(value)
    return value


def _check_condition(value: str) -> str:
    if "{{" not in value:
        Condition.of(value)
    return value


def _check_event(value: dict[str, Json]) -> dict[str, Json]:
    """Check the members of an event assertion that select the event."""
    positions = ("exact_position", "any_position")
    if "match" in value and value["match"] not in positions:
        raise ValueError(f"match: {value['match']!r} is not one of {', '.join(positions)}")
    index = value.get("index", 0)
    if not isinstance(index, int) or index < 0:
        raise ValueError(f"index: {index!r} is not a position")
    return value


Path: TypeAlias = Annotated[str, AfterValidator(_check_path)]
Expected: TypeAlias = Json
"""An assertion: a value, a mapping of operators, or nested members (see `matching.py`)."""


class Expect(Node):
    """The expected response: its HTTP status, its body and its headers (the headers are our addition)."""

    status: Expected = None
    body: Expected = None
    headers: dict[str, Expected] | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_body(cls, value: object) -> object:
        """Move members beside `status` into `body`, which the official suite leaves out in places."""
        if not isinstance(value, dict):
            return value
        known = {name: value[name] for name in ("status", "body", "headers") if name in value}
        others = {name: item for name, item in value.items() if name not in known}
        if not others:
            return known
        body = known.get("body", {})
        if not isinstance(body, dict):  # pydantic reports a ValueError, but not a TypeError
            raise ValueError(  # noqa: TRY004
                f"body is not a mapping, but there are members beside it: {', '.join(map(str, others))}"
            )
        return {**known, "body": {**body, **others}}


class ExpectError(Node):
    """The expected error: its name, and assertions about its message and its data."""

    error_type: Expected = Field(default=None, alias="code")
    message: Expected = None
    details: Expected = Field(default=None, alias="data")

    @model_validator(mode="before")
    @classmethod
    def _with_aliases(cls, value: object) -> object:
        """Read the keys of the specification and those of the official suite."""
        if not isinstance(value, dict):
            return value
        aliases = {"error_type": "code", "details": "data"}
        return {aliases.get(str(name), name): item for name, item in value.items()}


class ExpectStream(Node):
    """The expected events of a stream; each event assertion has a position (`index`) or matches at any position."""

    min_count: int | None = Field(default=None, ge=0)
    max_count: int | None = Field(default=None, ge=0)
    timeout_ms: int | None = Field(default=None, gt=0)
    ordering: Literal["monotonic_state"] | None = None
    events: list[Annotated[dict[str, Expected], AfterValidator(_check_event)]] = []
    final_event: Expected = None
    each_event: Expected = None


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


class CollectionMatch(Node):
    """What the elements at a path with wildcards have to match."""

    path: Path
    match: Expected


class Assertion(Node):
    """An assertion about a captured value or the result of a step (`source`)."""

    id: str = ""
    description: str = ""
    source: str
    path: Path = ""
    match: Expected = None
    any: CollectionMatch | None = None
    all: CollectionMatch | None = None
    none: CollectionMatch | None = None


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


class StepExtension(Node):
    """Our additions to a step: assembled artifacts, headers, and the times of the response in milliseconds."""

    artifacts: list[ArtifactExpectation] = []
    first_event_ms: int | None = Field(default=None, gt=0)
    gap_ms: int | None = Field(default=None, gt=0)
    total_ms: int | None = Field(default=None, gt=0)
    headers: dict[str, Expected] | None = None


class ArtifactExpectation(Node):
    """An assertion about an artifact of the task, assembled from its chunks.

    `name` selects the artifact by its name or id; by default the first artifact is checked. `text` is an assertion
    about the text of all parts, `data` one about the first data part, `sha256` the digest of the content.
    """

    name: str = ""
    text: Expected = None
    data: Expected = None
    sha256: str = ""
    media_type: Expected = None


class FindingsExpectation(Node):
    """Which findings a test may have: none above the severity `max`, except those of the rules in `allow`."""

    max: Literal["none", "hint", "warning", "error"] = "warning"
    allow: list[str] = []


class PushExpectation(Node):
    """The pushes that the webhook has to receive until `timeout_ms` after the last step.

    `count` is an assertion about their number, `states` the task states in their order, `valid` whether the receiver
    has to accept all of them, and their payloads have to be valid.
    """

    count: Expected = Field(default_factory=lambda: {"gte": 1})
    states: list[str] | None = None
    valid: bool = True
    timeout_ms: int = Field(default=5000, gt=0)


class TestExtension(Node):
    """Our additions to a test; `p50_ms` and `p95_ms` limit the percentiles of its time over all trials."""

    findings: FindingsExpectation | None = None
    pushes: PushExpectation | None = None
    no_secrets: bool = False
    total_ms: int | None = Field(default=None, gt=0)
    p50_ms: int | None = Field(default=None, gt=0)
    p95_ms: int | None = Field(default=None, gt=0)


class _Step(Node):
    id: str = Field(min_length=1)
    description: str = ""
    assertions: list[Assertion] = []
    delay_ms: int = Field(default=0, ge=0)


class _ServerStep(_Step):
    expect: Expect | None = None
    expect_error: ExpectError | None = None
    expect_stream: ExpectStream | None = None
    capture: dict[str, Path] = {}
    repeat: Repeat | None = None
    extension: StepExtension | None = Field(default=None, alias=EXTENSION)

    @model_validator(mode="after")
    def _check_expectations(self) -> _ServerStep:
        if self.expect is not None and self.expect_error is not None:
            raise ValueError("a step has either expect or expect_error")
        return self


class OperationStep(_ServerStep):
    """Call an operation."""

    operation: str
    params: dict[str, Json] = {}

    @model_validator(mode="after")
    def _check_operation(self) -> OperationStep:
        if self.operation not in OPERATIONS and self.operation != CARD:
            raise ValueError(f"unknown operation {self.operation!r}; known: {CARD}, {', '.join(OPERATIONS)}")
        if self.expect_stream is not None and OPERATIONS.get(self.operation) not in STREAMING:
            raise ValueError(f"{self.operation} has no stream, so that it cannot have expect_stream")
        return self

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


class SkillRequirement(Node):
    """A skill that the agent must have."""

    id: str


class Preconditions(Node):
    """What the agent has to declare so that a test applies."""

    capabilities: dict[str, Json] = {}
    skills: list[SkillRequirement] = []
    transport: list[Transports] = []
    extensions: list[str] = []
    description: str = ""


class Test(Node):
    """A scenario: steps in order, then assertions."""

    id: str = Field(min_length=1)
    name: str
    description: str = ""
    spec_ref: str = ""
    level: Levels
    tags: list[str] = []
    transport: list[Transports] = []
    preconditions: Preconditions = Preconditions()
    requires_behaviors: list[str] = []
    origin: str = ""
    runner_requirements: list[Requirements] = []
    steps: list[Step] = Field(min_length=1)
    assertions: list[Assertion] = []
    extension: TestExtension = Field(default=TestExtension(), alias=EXTENSION)

    @model_validator(mode="after")
    def _check_ids(self) -> Test:
        seen: set[str] = set()
        for step in self.steps:
            if step.id in seen:
                raise ValueError(f"two steps have the id {step.id!r}")
            seen.add(step.id)
        return self


class Suite(Node):
    """A group of tests; its tags are those of its tests, too."""

    id: str = Field(min_length=1)
    name: str
    description: str = ""
    tags: list[str] = []
    tests: list[Test]


class Metadata(Node):
    """What the file is about."""

    title: str = ""
    description: str = ""
    authors: list[str] = []
    license: str = ""


class Document(Node):
    """A check file; `include` names other files, relative to this one."""

    acts_version: str
    spec_version: str
    spec_ref: str = ""
    metadata: Metadata = Metadata()
    variables: dict[str, str] = {}
    include: list[str] = []
    suites: list[Suite] = []

    @model_validator(mode="after")
    def _check_content(self) -> Document:
        if self.acts_version.partition(".")[0] not in ("0", "1"):
            raise ValueError(f"acts_version {self.acts_version!r} is not supported; supported: 0.x and 1.x")
        if not self.include and not self.suites:
            raise ValueError("a check file needs suites or include")
        return self


StepExtension.model_rebuild()
