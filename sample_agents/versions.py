"""The versions that the agent can serve, and what differs between them beside their dialect, as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

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
"""The releases of 1.0, which map some errors to other statuses (section 5.4)."""


EventT = TypeVar("EventT", bound=Wire)


def _as_it_is() -> Callable[[Event], Event]:
    return lambda event: event


def _unnumbered(event: EventT, _changes: int) -> EventT:
    return event


def _any_time(_request: SendRequest, _changes: int) -> None:
    return None


def _at_once(_request: TaskRequest) -> int:
    return 0


class Numbered(Protocol):
    """Writes into an event how often its task has changed, if the version has a member for it."""

    def __call__(self, event: EventT, changes: int, /) -> EventT:
        """Return the event as the version has it."""


def _without_task() -> Callable[[Event], Event]:
    """Return what makes a stream one of 0.1: it has no task in it, and artifacts are told apart by their place."""
    places: dict[str, int] = {}

    def written(event: Event) -> Event:
        match event:
            case Task():
                for artifact in event.artifacts or ():
                    places.setdefault(artifact.artifact_id, len(places))
                return TaskStatusUpdateEvent(task_id=event.id, context_id=event.context_id, status=event.status)
            case TaskArtifactUpdateEvent(artifact=artifact):
                place = places.setdefault(artifact.artifact_id, len(places))
                placed = artifact.model_copy(update={"artifact_id": f"artifact-{place}"})
                return event.model_copy(update={"artifact": placed})
            case _:
                return event

    return written


@dataclass(frozen=True, slots=True)
class Version:
    """One version as served: in which dialect, and with which manners.

    `version_header` is where a request says its version; `release` is the one of `releases` whose statuses of errors
    are used. `subscription_ends` names the states after which SubscribeToTask is over; `snake_case` says whether
    members may come under their protobuf names. `history` is how much of it comes with a task unless asked for,
    `streamed` makes what rewrites the events of one stream, and `no_extended_card` is the error of an agent without
    one. `numbered` writes into an event how often its task has changed, `refusal` is the error (name and message) for a
    message to a task that has changed so often, and GetTask is answered once a task has changed more often than
    `awaited` says.
    """

    dialect: Dialect
    subscription_ends: frozenset[str]
    version_header: str = "A2A-Version"
    token_header: str = "X-A2A-Notification-Token"  # noqa: S105 - a header's name
    releases: tuple[str, ...] = ()
    release: str = "1.0.0"
    snake_case: bool = False
    history: int | None = None
    streamed: Callable[[], Callable[[Event], Event]] = _as_it_is
    no_extended_card: str = "UnsupportedOperationError"
    numbered: Numbered = _unnumbered
    refusal: Callable[[SendRequest, int], tuple[str, str] | None] = _any_time
    awaited: Callable[[TaskRequest], int] = _at_once

    @property
    def name(self) -> str:
        """Return the version as people say it."""
        return self.dialect.version

    @property
    def traits(self) -> Traits:
        """Return what is particular to the version over the transports of this dialect."""
        return self.dialect.traits

    @property
    def unstated(self) -> bool:
        """Return whether a request may leave its version out."""
        return not self.dialect.headers

    @property
    def declared(self) -> str:
        """Return the version that its interfaces declare."""
        return self.traits.declared or self.name

    @property
    def path(self) -> str:
        """Return where it is served beside another: `/v0.3`."""
        return f"/{self.name}" if self.traits.declared else f"/v{self.name}"

    def takes(self, version: str) -> bool:
        """Say whether a request of this version speaks it."""
        return version_of(version) == (self.traits.extends or self.name) if version else self.unstated


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
    # Its status updates say `final: true` when the agent asks for input, and nothing may follow that.
    subscription_ends=TERMINAL | INTERRUPTED,
    no_extended_card="ExtendedAgentCardNotConfiguredError",
)
V0_3_PROTO = replace(V0_3, dialect=v0_3_proto.DIALECT)
V0_2 = replace(V0_3, dialect=v0_2.DIALECT, no_extended_card="UnsupportedOperationError")
V0_2_PROTO = replace(V0_3_PROTO, dialect=v0_2.PROTO_DIALECT)
V0_1 = replace(V0_2, dialect=v0_1.DIALECT, history=0, streamed=_without_task)


def _with_revision(event: EventT, changes: int) -> EventT:
    return event if isinstance(event, Message) else event.model_copy(update={"generation": str(changes)})


def _mismatch(request: SendRequest, changes: int) -> tuple[str, str] | None:
    required = v1_1.required_revision(request)
    if required in (0, changes):
        return None
    said = f"Task generation mismatch: expected {required} but current generation is {changes}"
    return "TaskGenerationMismatchError", said


V1_1 = replace(
    V1_0,
    dialect=v1_1.DIALECT,
    releases=(),
    release=RELEASES[-1],
    numbered=_with_revision,
    refusal=_mismatch,
    awaited=v1_1.awaited_revision,
)

VERSIONS: Mapping[str, tuple[Version, ...]] = {
    "1.0": (V1_0,),
    "0.3": (V0_3, V0_3_PROTO),
    "0.2": (V0_2, V0_2_PROTO),
    "0.1": (V0_1,),
    "opvs": (OPVS,),
    "1.1": (V1_1,),
}
"""Every version by its name; one that spells its transports differently has an entry for each spelling."""
