"""The generations that the agent can serve, and what differs between them beside their dialect, as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from inspector.protocol.dialects import opvs, v0_1, v0_2, v0_3, v0_3_proto, v1_0
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import generation_of
from inspector.protocol.lifecycle import INTERRUPTED, TERMINAL
from inspector.protocol.model import Event, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent

RELEASES = ("1.0.0", "1.0.1")
"""The releases of 1.0, which map some errors to other statuses (section 5.4)."""


def _as_it_is() -> Callable[[Event], Event]:
    return lambda event: event


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
class Generation:
    """One generation as served: in which dialect, and with which manners.

    `version_header` is where a request says its version, and `unstated` whether it may leave it out; `release` is the
    one whose statuses of errors are used. `subscription_ends` names the states after which SubscribeToTask is over;
    `error_details` says whether errors carry an ErrorInfo, `snake_case` whether members may come under their protobuf
    names, `pushes_task` whether a webhook gets the whole Task instead of the event, `names_tasks` whether the client
    makes the ids of tasks, which are then the only answers, and `hurries` whether a send that does not say so returns
    at once. `history` is how much of it comes with a task unless asked for, `streamed` makes what rewrites the events
    of one stream, and `no_extended_card` is the error of an agent without one.
    """

    dialect: Dialect
    subscription_ends: frozenset[str]
    version_header: str = "A2A-Version"
    token_header: str = "X-A2A-Notification-Token"  # noqa: S105 - a header's name
    unstated: bool = False
    release: str = "1.0.0"
    error_details: bool = False
    snake_case: bool = False
    pushes_task: bool = False
    names_tasks: bool = False
    hurries: bool = False
    history: int | None = None
    streamed: Callable[[], Callable[[Event], Event]] = _as_it_is
    no_extended_card: str = "UnsupportedOperationError"

    @property
    def name(self) -> str:
        """Return the generation as people say it."""
        return self.dialect.generation

    @property
    def declared(self) -> str:
        """Return the version that its interfaces say: that of the generation which it is another name for, if it is."""
        return self.dialect.alias_of or self.name

    @property
    def path(self) -> str:
        """Return where it is served beside another: `/v0.3`."""
        return f"/{self.name}" if self.dialect.alias_of else f"/v{self.name}"

    def takes(self, version: str) -> bool:
        """Say whether a request of this version speaks it."""
        return generation_of(version) == self.declared if version else self.unstated


V1_0 = Generation(v1_0.DIALECT, subscription_ends=TERMINAL, error_details=True, snake_case=True)
OPVS = replace(
    V1_0,
    dialect=opvs.DIALECT,
    version_header="OPVS-Version",
    token_header="X-OPVS-Notification-Token",  # noqa: S106 - a header's name
)
V0_3 = Generation(
    v0_3.DIALECT,
    # Its status updates say `final: true` when the agent asks for input, and nothing may follow that.
    subscription_ends=TERMINAL | INTERRUPTED,
    unstated=True,
    pushes_task=True,
    no_extended_card="ExtendedAgentCardNotConfiguredError",
)
V0_3_PROTO = replace(V0_3, dialect=v0_3_proto.DIALECT, hurries=True)  # no `blocking` is `blocking: false` there
V0_2 = replace(V0_3, dialect=v0_2.DIALECT, no_extended_card="UnsupportedOperationError")
V0_2_PROTO = replace(V0_3_PROTO, dialect=v0_2.PROTO_DIALECT)
V0_1 = replace(V0_2, dialect=v0_1.DIALECT, names_tasks=True, history=0, streamed=_without_task)

GENERATIONS: Mapping[str, tuple[Generation, ...]] = {
    "1.0": (V1_0,),
    "0.3": (V0_3, V0_3_PROTO),
    "0.2": (V0_2, V0_2_PROTO),
    "0.1": (V0_1,),
    "opvs": (OPVS,),
}
"""Every generation by its name; one that spells its transports differently has an entry for each spelling."""
