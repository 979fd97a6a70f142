"""Choose the interface of a card to use: the first supported interface in the order of the card (1.0 section 8.3.2)."""

from __future__ import annotations

from dataclasses import replace

from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.base import Binding
from inspector.protocol.bindings.custom import explain_binding
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import ALL, DIALECTS, for_interface, for_request, supports_binding, version_of

DECLARED = "declared"
"""The reason of an alternative that the card declares."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen interface, its dialect and binding, and the reason for the choice.

    `undeclared` is whether the card declares no interface with the requested binding or version.
    """

    interface: AgentInterface
    dialect: Dialect
    binding: Binding
    reason: str
    undeclared: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """A declared interface with its dialect and binding, or the reason why it is not supported."""

    interface: AgentInterface
    dialect: Dialect | None
    binding: Binding | None
    reason: str

    @property
    def usable(self) -> bool:
        """Return whether its protocol version and its binding are supported."""
        return self.dialect is not None and self.binding is not None

    @property
    def outdated(self) -> bool:
        """Return whether its protocol version is older than 1.0."""
        return self.dialect is not None and self.dialect.traits.outdated


def options(card: AgentCard) -> list[Option]:
    """Return an `Option` for each declared interface, in the order of the card."""
    return [_judge(interface) for interface in card.supported_interfaces]


def select(
    card: AgentCard, transports: tuple[str, ...] = (), version: str = "", *, outdated: bool = True
) -> Choice | None:
    """Choose an interface; return None if the card has no supported interface.

    - `transports`: the bindings that the user prefers, best first. They have priority over the order of the card;
      bindings that the card does not declare are ignored.
    - `version`: the protocol version that the user requests (`0.3`, `opvs`). It selects the interfaces that declare
      this version, the version that it extends, or an unsupported version. If there is no such interface, the
      requested version replaces the declared versions, so that a user can connect to an agent with a wrong card.
    - `outdated`: versions before 1.0 are chosen, too, if no version is requested.
    """
    declared, forces = _for_version(options(card), version) if version else (options(card), False)
    usable = [option for option in declared if option.usable and (version or outdated or not option.outdated)]
    for wanted in transports:
        for option in usable:
            if option.interface.protocol_binding.upper() == wanted.upper():
                return _choice(option, option.reason if forces else f"{wanted} was requested", undeclared=forces)
    if not usable:
        return None
    first = usable[0]
    if forces:
        return _choice(first, first.reason, undeclared=True)
    if transports:
        return _choice(first, _why_not(declared, transports), undeclared=True)
    if version:
        return _choice(first, f"protocol version {version} was requested")
    if first.interface == card.supported_interfaces[0]:
        return _choice(first, "preferred")
    return _choice(first, "first supported interface")


def _why_not(declared: list[Option], transports: tuple[str, ...]) -> str:
    """Return why no requested binding is used."""
    wanted = {name.upper() for name in transports}
    for interface in (option.interface for option in declared):
        if interface.protocol_binding.upper() in wanted:
            version = interface.protocol_version or "no version"
            return f"{interface.protocol_binding} was requested, but the card declares {version} for it"
    return f"the card declares no interface over {' or '.join(transports)}"


def _for_version(declared: list[Option], version: str) -> tuple[list[Option], bool]:
    """Return the options for the version that the user requests, and whether it replaces the declared versions."""
    compatible = [_requested(option, version) for option in declared]
    if any(option.usable for option in compatible):
        return _drafts(compatible) or compatible, False
    # No interface is compatible by its declaration: the request of the user has priority over the card.
    return [_requested(option, version, ignore_declared=True) for option in declared], True


def _drafts(compatible: list[Option]) -> list[Option]:
    """Return the options that declare the draft version which the user requests."""
    return [
        option
        for option in compatible
        if option.dialect is not None
        and option.dialect.traits.experimental
        and option.interface.protocol_version == option.dialect.traits.version
    ]


def _requested(option: Option, version: str, *, ignore_declared: bool = False) -> Option:
    """Return an option for the version that the user requests, if the interface is compatible with it."""
    wanted = for_request(version, option.interface.protocol_binding)
    own = option.interface.protocol_version
    if wanted is not None and ignore_declared:
        return replace(option, dialect=wanted, reason=f"{version} was requested, but the card declares {own}")
    if wanted is not None and version_of(own) in ("", wanted.version, wanted.traits.extends):
        return replace(option, dialect=wanted)
    return replace(option, dialect=None, reason=f"protocol version {version} was requested")


def _choice(option: Option, reason: str, *, undeclared: bool = False) -> Choice:
    if option.dialect is None or option.binding is None:
        raise ValueError(f"not supported: {option.reason}")
    return Choice(option.interface, option.dialect, option.binding, reason, undeclared)


def _judge(interface: AgentInterface) -> Option:
    name = interface.protocol_binding.upper()
    binding = BINDINGS.get(name)
    if binding is None:
        what = explain_binding(interface.protocol_binding)
        reason = f"the binding {interface.protocol_binding!r} is not supported"
        return Option(interface, None, None, f"{reason} ({what})" if what else reason)
    version = interface.protocol_version
    dialect = for_interface(version, name)
    if dialect is not None:
        return Option(interface, dialect, binding, f"{dialect.version} over {binding.name}")
    if version_of(version):
        return Option(interface, None, binding, f"protocol version {version!r} does not support {binding.name}")
    problem = f"protocol version {version!r} is not supported" if version else "protocolVersion is missing"
    return Option(interface, None, binding, f"{problem}; supported: {', '.join(DIALECTS)}")


def alternatives(card: AgentCard) -> list[Choice]:
    """Return the supported interfaces as declared, then every interface with the versions that it does not declare."""
    declared = [_choice(option, DECLARED) for option in options(card) if option.usable]
    others = [
        Choice(option.interface, dialect, option.binding, "not declared")
        for option in options(card)
        if option.binding is not None
        for dialect in ALL
        if dialect is not option.dialect and supports_binding(dialect, option.binding.name)
    ]
    return [*declared, *others]
