"""What is known about a call besides its request: the card, the headers that were sent, and the state of its task.

Some errors are only correct in some circumstances, and so is the advice about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from inspector.lazy_dataclass import dataclass
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.traits import major_minor
from inspector.protocol.lifecycle import is_terminal
from inspector.protocol.operations import PUSH, STREAMING, Operation

if TYPE_CHECKING:
    from inspector.protocol.card import AgentCard, AgentInterface


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The circumstances of a call.

    - `card`, `interface`: the card of the agent, and the interface in it that is used; None if they are unknown
    - `version`: the protocol version in the request (`1.0`), `""` without a version header
    - `extensions`: the extensions that the request activates
    - `state`, `context_id`: the state and the context of the task that the request names, as known before the request;
      `""` if they are unknown
    - `url`: where the request was sent, with masked secrets
    - `authorization`: the scheme of the header Authorization in the request (`Bearer`), `""` without that header
    - `page`, `listed`: the number of the requested page of a list, and for each task that its list contained before the
      request the number of the first page with it
    """

    card: AgentCard | None = None
    interface: AgentInterface | None = None
    version: str = ""
    extensions: frozenset[str] = frozenset()
    state: str = ""
    context_id: str = ""
    url: str = ""
    authorization: str = ""
    page: int = 1
    listed: Mapping[str, int] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        """Return whether the task is known to have ended before the request."""
        return is_terminal(self.state)

    @property
    def declared_version(self) -> str:
        """Return the protocol version that the card declares for the interface, without the patch number."""
        return major_minor(self.interface.protocol_version) if self.interface else ""

    def undeclared_capability(self, operation: Operation) -> str:
        """Return the capability that an operation needs and that the card does not declare, `""` if there is none."""
        if self.card is None:
            return ""
        declared = self.card.capabilities
        if operation in STREAMING and not declared.streaming:
            return "streaming"
        if operation in PUSH and not declared.push_notifications:
            return "pushNotifications"
        if operation is Operation.EXTENDED_CARD and not declared.extended_agent_card:
            return "extendedAgentCard"
        return ""

    @property
    def required_extensions(self) -> tuple[str, ...]:
        """Return the extensions that the card requires."""
        declared = (self.card.capabilities.extensions if self.card else None) or ()
        return tuple(extension.uri for extension in declared if extension.required)

    @property
    def missing_extensions(self) -> tuple[str, ...]:
        """Return the extensions that the card requires and that the request does not activate."""
        return tuple(uri for uri in self.required_extensions if uri not in self.extensions)


def says_ended(message: str) -> bool:
    """Return whether the message of an error is about a task that has ended, in the words of the official SDKs."""
    return "terminal state" in message.lower()


def version_header(dialect: Dialect) -> str:
    """Return the name of the header with the protocol version, `""` if the version has none."""
    return next((name for name in dialect.headers if name.lower().endswith("-version")), "")


def sent_version(dialect: Dialect, headers: Iterable[tuple[str, str]]) -> str:
    """Return the protocol version in the headers of a request."""
    name = version_header(dialect).lower()
    return next((value.strip() for header, value in headers if name and header.lower() == name), "")


def sent_extensions(dialect: Dialect, headers: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the extensions that the headers of a request activate."""
    name = dialect.extensions_header.lower()
    return named_extensions(*(value for header, value in headers if name and header.lower() == name))


def named_extensions(*values: str) -> frozenset[str]:
    """Return the URIs in the values of an extensions header."""
    return frozenset(uri.strip() for value in values for uri in value.split(",") if uri.strip())


UNKNOWN = Circumstances()
"""The circumstances of a call about which nothing is known."""
