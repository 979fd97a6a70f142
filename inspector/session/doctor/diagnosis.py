"""What the doctor finds: steps, proposals, and what a card declares against what was seen."""

from __future__ import annotations

from dataclasses import dataclass, field

from inspector.protocol.card import AgentCard
from inspector.protocol.errors import Fault
from inspector.protocol.security import requirements_in_words
from inspector.protocol.selection import Choice, Option

STREAMING = "streaming"
"""The step that looked at a stream."""
PUSH = "push"
"""The step that waited for a push."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was looked at; `good` is None where there is nothing to judge.

    `seen` and `remedy` are for people, `seconds` is how long it took, `exchange` leads to what crossed the wire.
    """

    name: str
    good: bool | None
    seen: str
    seconds: float = 0.0
    remedy: str = ""
    exchange: int = 0


@dataclass(frozen=True, slots=True)
class Observed:
    """What the card declares of one thing, and what was seen of it; `agree` is None where that cannot be told."""

    thing: str
    declared: str
    observed: str
    agree: bool | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """An interface and a generation that answered, where the declared one did not; nothing is retried unasked."""

    choice: Choice
    why: str


@dataclass(slots=True)
class Report:
    """What an examination came to, secrets masked; filled step by step.

    `fault` is what kept the agent from being examined at all, None where its card was read.
    """

    reference: str
    steps: list[Step] = field(default_factory=list)
    table: list[Observed] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    fault: Fault | None = None

    @property
    def sound(self) -> bool:
        """Say whether every step that can be judged was good."""
        return all(step.good is not False for step in self.steps)


@dataclass(slots=True)
class Examined:
    """One declared interface: what it proved to speak, and whether something kept that from being told."""

    name: str
    option: Option
    spoken: list[str] = field(default_factory=list)
    untold: bool = False
    demanding: bool = False


def spoken(choice: Choice) -> str:
    """Say what is spoken on an interface: `1.0 over JSONRPC`."""
    return f"{choice.dialect.generation} over {choice.binding.name}"


def of_interface(examined: Examined) -> Observed:
    """Compare what an interface declares with what it proved to speak."""
    option = examined.option
    interface, dialect, binding = option.interface, option.dialect, option.binding
    declared = f"{interface.protocol_version or '?'} over {interface.protocol_binding or '?'}"
    agree = None
    if dialect is not None and binding is not None and not examined.untold:
        agree = examined.spoken == [f"{dialect.generation} over {binding.name}"]
    seen = ", ".join(examined.spoken) or "no answer that proves a protocol"
    return Observed(examined.name, declared, seen, agree)


def of_capability(thing: str, said: bool | None, step: Step | None, *, tried: bool) -> Observed:
    """Compare a capability with the step that looked at it, where one did; `tried`: a message was sent."""
    untried = "not tried" if tried else "not tried: give the doctor a message to send"
    declared = "yes" if said else "no" if said is False else "not said"
    return Observed(thing, declared, step.seen if step else untried, step.good if step else None)


def of_credentials(card: AgentCard, *, demanded: bool, given: bool) -> Observed:
    """Compare what a card asks for with whether a call was refused without it."""
    seen = "demanded" if demanded else "given" if given else "not demanded"
    unsaid = demanded and not any(card.security_requirements or ())
    return Observed("credentials", requirements_in_words(card), seen, False if unsaid else None)
