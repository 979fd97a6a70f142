"""The protocol versions that the agent can serve, and their differences besides the JSON, which a `Dialect` defines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol, TypeVar

from inspector.lazy_dataclass import dataclass
from inspector.protocol.dialects import opvs, v0_1, v0_2, v0_3, v0_3_proto, v1_0, v1_1
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import version_of
from inspector.protocol.dialects.traits import Traits
from inspector.protocol.lifecycle import INTERRUPTED, TERMINAL
from inspector.protocol.model import (
    Event,
    Message,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskRequest,
    TaskStatusUpdateEvent,
    Wire,
)

RELEASES = ("1.0.0", "1.0.1")
"""The releases of 1.0: they map some errors to different statuses (section 5.4)."""


EventT = TypeVar("EventT", bound=Wire)


def _no_rewriter() -> Callable[[Event], Event]:
    return lambda event: event


def _without_revision(event: EventT, _changes: int) -> EventT:
    return event


def _no_revision_check(_request: SendRequest, _changes: int) -> None:
    return None


def _no_awaited_revision(_request: TaskRequest) -> int:
    return 0


class AddRevision(Protocol):
    """Add the number of changes of a task to an event, if the version has a member for it."""

    def __call__(self, event: EventT, changes: int, /) -> EventT:
        """Return the event for the version."""


def _without_task() -> Callable[[Event], Event]:
    """Return a function that rewrites the events of a stream for 0.1, without tasks and with numbered artifacts."""
    indexes: dict[str, int] = {}

    def rewrite(event: Event) -> Event:
        match event:
            case Task():
                for artifact in event.artifacts or ():
                    indexes.setdefault(artifact.artifact_id, len(indexes))
                return TaskStatusUpdateEvent(task_id=event.id, context_id=event.context_id, status=event.status)
            case TaskArtifactUpdateEvent(artifact=artifact):
                index = indexes.setdefault(artifact.artifact_id, len(indexes))
                renamed = artifact.model_copy(update={"artifact_id": f"artifact-{index}"})
                return event.model_copy(update={"artifact": renamed})
            case _:
                return event

    return rewrite


@dataclass(frozen=True, slots=True)
class Version:
    """One protocol version as the agent serves it.

    - `subscription_ends`: the states that end SubscribeToTask
    - `version_header`, `token_header`: the headers for the version of a request and for the token of a push
    - `releases`, `release`: the releases of the version, and the release that defines the statuses of errors
    - `snake_case`: whether requests may use protobuf names
    - `history`: the default history length of a task; None is all of it
    - `event_rewriter`: returns a function that adapts the events of one stream
    - `no_extended_card`: the name of the error of an agent without extended card
    - `add_revision`: adds the number of changes of the task to an event
    - `revision_error`: returns the error (name, message) if a message requires another number of changes, or None
    - `awaited_revision`: returns a number of changes; GetTask waits until the task has more
    """

    dialect: Dialect
    subscription_ends: frozenset[str]
    version_header: str = "A2A-Version"
    token_header: str = "X-A2A-Notification-Token"  # noqa: S105 - a header's name
    releases: tuple[str, ...] = ()
    release: str = "1.0.0"
    snake_case: bool = False
    history: int | None = None
    event_rewriter: Callable[[], Callable[[Event], Event]] = _no_rewriter
    no_extended_card: str = "UnsupportedOperationError"
    add_revision: AddRevision = _without_revision
    revision_error: Callable[[SendRequest, int], tuple[str, str] | None] = _no_revision_check
    awaited_revision: Callable[[TaskRequest], int] = _no_awaited_revision

    @property
    def name(self) -> str:
        """Return the name of the version, for example `0.3`."""
        return self.dialect.version

    @property
    def traits(self) -> Traits:
        """Return the traits: how the version differs from others besides its JSON."""
        return self.dialect.traits

    @property
    def version_optional(self) -> bool:
        """Return whether a request may omit its version."""
        return not self.dialect.headers

    @property
    def declared(self) -> str:
        """Return the version that its interfaces declare."""
        return self.traits.declared or self.name

    @property
    def path(self) -> str:
        """Return the path of its endpoint if another version is served at the root, for example `/v0.3`."""
        return f"/{self.name}" if self.traits.declared else f"/v{self.name}"

    def accepts(self, version: str) -> bool:
        """Return whether requests with this version header are accepted; `""` means without header."""
        return version_of(version) == (self.traits.extends or self.name) if version else self.version_optional


V1_0 = Version(v1_0.DIALECT, subscription_ends=TERMINAL, releases=RELEASES, snake_case=True)
OPVS = replace(
    V1_0,
    dialect=opvs.DIALECT,
    releases=(),
    version_header="OPVS-Version",
    token_header="X-OPVS-Notification-Token",  # noqa: S106 - a header's name
)
V0_3 = Version(
    v0_3.DIALECT,
    # A status update that asks for input has `final: true`, which ends the stream.
    subscription_ends=TERMINAL | INTERRUPTED,
    no_extended_card="ExtendedAgentCardNotConfiguredError",
)
V0_3_PROTO = replace(V0_3, dialect=v0_3_proto.DIALECT)
V0_2 = replace(V0_3, dialect=v0_2.DIALECT, no_extended_card="UnsupportedOperationError")
V0_2_PROTO = replace(V0_3_PROTO, dialect=v0_2.PROTO_DIALECT)
V0_1 = replace(V0_2, dialect=v0_1.DIALECT, history=0, event_rewriter=_without_task)


def _with_revision(event: EventT, changes: int) -> EventT:
    return event if isinstance(event, Message) else event.model_copy(update={"generation": str(changes)})


def _mismatch(request: SendRequest, changes: int) -> tuple[str, str] | None:
    required = v1_1.required_revision(request)
    if required in (0, changes):
        return None
    message = f"Task generation mismatch: expected {required} but current generation is {changes}"
    return "TaskGenerationMismatchError", message


V1_1 = replace(
    V1_0,
    dialect=v1_1.DIALECT,
    releases=(),
    release=RELEASES[-1],
    add_revision=_with_revision,
    revision_error=_mismatch,
    awaited_revision=v1_1.awaited_revision,
)

VERSIONS: Mapping[str, tuple[Version, ...]] = {
    "1.0": (V1_0,),
    "0.3": (V0_3, V0_3_PROTO),
    "0.2": (V0_2, V0_2_PROTO),
    "0.1": (V0_1,),
    "opvs": (OPVS,),
    "1.1": (V1_1,),
}
"""The protocol versions by name; a version that differs between bindings has several entries."""
