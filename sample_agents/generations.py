"""The generations that the agent serves, and what differs between them beside their dialect, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from inspector.protocol.dialects import v0_3, v1_0
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import for_version
from inspector.protocol.lifecycle import INTERRUPTED, TERMINAL
from inspector.protocol.operations import Operation

VERSION_HEADER = "A2A-Version"
UNSTATED_VERSION = "0.3"
"""What a request without a version speaks (1.0 section 3.6.2)."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation as served: where, in which dialect, and with which manners.

    `subscription_ends` names the states after which SubscribeToTask is over; `error_details` says whether errors carry
    an ErrorInfo, `snake_case` whether members may come under their protobuf names, `pushes_task` whether a webhook
    gets the whole Task instead of the event, and `no_extended_card` is the error of an agent without one.
    """

    dialect: Dialect
    path: str
    subscription_ends: frozenset[str]
    error_details: bool
    snake_case: bool
    pushes_task: bool
    no_extended_card: str

    @property
    def name(self) -> str:
        """Return the generation as people say it."""
        return self.dialect.generation


V1_0 = Generation(
    dialect=v1_0.DIALECT,
    path="/",
    subscription_ends=TERMINAL,
    error_details=True,
    snake_case=True,
    pushes_task=False,
    no_extended_card="UnsupportedOperationError",
)
V0_3 = Generation(
    dialect=v0_3.DIALECT,
    path="/v0.3",
    # Its status updates say `final: true` when the agent asks for input, and nothing may follow that.
    subscription_ends=TERMINAL | INTERRUPTED,
    error_details=False,
    snake_case=False,
    pushes_task=True,
    no_extended_card="ExtendedAgentCardNotConfiguredError",
)

GENERATIONS = (V1_0, V0_3)
"""What is served, the preferred one first."""

LISTED: Mapping[str, tuple[tuple[Generation, str], ...]] = {
    V1_0.name: ((V1_0, "1.0"), (V0_3, "0.3")),
    V0_3.name: ((V0_3, "0.3.0"),),
}
"""What the card of each generation lists, under which `protocolVersion`; a card of 0.3 knows one version, its own."""

METHODS: Mapping[str, tuple[Generation, Operation]] = {
    method: (generation, operation)
    for generation in GENERATIONS
    for operation, method in generation.dialect.methods.items()
}
"""Every JSON-RPC method by its name, which tells the generations apart."""


def generation_of(version: str) -> Generation | None:
    """Return the generation that an `A2A-Version` asks for, the unstated one included; None where it is not served."""
    dialect = for_version(version or UNSTATED_VERSION)
    return next((generation for generation in GENERATIONS if generation.dialect is dialect), None)
