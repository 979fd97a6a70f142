"""Which of a card's interfaces to use: the first in the card's order that we speak (1.0 section 8.3.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from inspector.protocol.bindings.base import Binding
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import ALL, DIALECTS, for_interface, for_request, travels_over, version_of


@dataclass(frozen=True, slots=True)
class Choice:
    """An interface that we can speak to, and why it is the one."""

    interface: AgentInterface
    dialect: Dialect
    binding: Binding
    reason: str


@dataclass(frozen=True, slots=True)
class Option:
    """One declared interface, with what we would speak there, or the reason why we cannot."""

    interface: AgentInterface
    dialect: Dialect | None
    binding: Binding | None
    reason: str

    @property
    def usable(self) -> bool:
        """Say whether we speak both its version and its binding."""
        return self.dialect is not None and self.binding is not None


def options(card: AgentCard) -> list[Option]:
    """Judge every declared interface, in the card's order."""
    return [_judge(interface) for interface in card.supported_interfaces]


def select(card: AgentCard, transports: tuple[str, ...] = (), version: str = "") -> Choice | None:
    """Choose an interface, or None where the card offers none that we speak.

    `transports` are the user's bindings, best first, and win over the card's order; one that the card does not offer
    is passed over. `version` (`0.3`, `opvs`) leaves only interfaces that may speak it: those that declare it, those
    that declare what it is an alias of, and those that declare none which we speak; where there is no such interface,
    it stands for what the others declare. Saying so is the user's way to talk to an agent whose card is wrong.
    """
    judged = options(card)
    if version:
        pinned = [_pinned(option, version) for option in judged]
        # Where none may speak it by the card, the user knows better than the card.
        insisted = [_pinned(option, version, insist=True) for option in judged]
        judged = _drafts(pinned) or (pinned if any(option.usable for option in pinned) else insisted)
    usable = [option for option in judged if option.usable]
    for wanted in transports:
        for option in usable:
            if option.interface.protocol_binding.upper() == wanted.upper():
                return _choice(option, f"{wanted} was asked for")
    if not usable:
        return None
    first = usable[0]
    if version:
        return _choice(first, f"protocol version {version} was asked for")
    if first.interface == card.supported_interfaces[0]:
        return _choice(first, "first on the card")
    return _choice(first, "first on the card that we speak")


def _drafts(judged: list[Option]) -> list[Option]:
    """Return the options that declare the draft which the user asks for."""
    return [
        option
        for option in judged
        if option.dialect is not None
        and option.dialect.traits.experimental
        and option.interface.protocol_version == option.dialect.traits.version
    ]


def _pinned(option: Option, version: str, *, insist: bool = False) -> Option:
    """Judge an interface again for a version that the user asks for; `insist` passes over what it declares."""
    wanted = for_request(version, option.interface.protocol_binding)
    declared = version_of(option.interface.protocol_version)
    if wanted is not None and (insist or declared in ("", wanted.version, wanted.traits.extends)):
        return replace(option, dialect=wanted)
    return replace(option, dialect=None, reason=f"protocol version {version} was asked for")


def _choice(option: Option, reason: str) -> Choice:
    if option.dialect is None or option.binding is None:
        raise ValueError(f"not usable: {option.reason}")
    return Choice(option.interface, option.dialect, option.binding, reason)


def _judge(interface: AgentInterface) -> Option:
    name = interface.protocol_binding.upper()
    binding = BINDINGS.get(name)
    if binding is None:
        return Option(interface, None, None, f"we do not speak the binding {interface.protocol_binding!r}")
    version = interface.protocol_version
    dialect = for_interface(version, name)
    if dialect is not None:
        return Option(interface, dialect, binding, f"{dialect.version} over {binding.name}")
    if version_of(version):
        return Option(interface, None, binding, f"protocol version {version!r} does not travel over {binding.name}")
    said = f"protocol version {version!r}" if version else "an interface without a protocolVersion"
    return Option(interface, None, binding, f"we speak {' and '.join(DIALECTS)}, not {said}")


def alternatives(card: AgentCard) -> list[Choice]:
    """List the interfaces that can be talked to as declared, then each in the versions that it might speak else."""
    declared = [_choice(option, "declared") for option in options(card) if option.usable]
    others = [
        Choice(option.interface, dialect, option.binding, "not declared")
        for option in options(card)
        if option.binding is not None
        for dialect in ALL
        if dialect is not option.dialect and travels_over(dialect, option.binding.name)
    ]
    return [*declared, *others]
