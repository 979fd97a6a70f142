"""The connection to an agent: its card, from a URL, a file or a document, and the interface in use."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, unquote

from inspector.capture.records import Kind
from inspector.capture.redaction import Redactor
from inspector.findings.finding import Finding
from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import VERSION_NOT_SUPPORTED, Fault, FaultCode, FaultError, Whose
from inspector.protocol.operations import PUSH, STREAMING, Operation
from inspector.protocol.selection import DECLARED, Choice, alternatives, options
from inspector.session.card_fetch import CardAttempt, CardFetch, card_not_found, fetch_card, search_card
from inspector.session.journal import Journal
from inspector.text.reference import local_path
from inspector.wire import discovery
from inspector.wire.client.credentials import Credentials, basic
from inspector.wire.client.http import Client
from inspector.wire.client.http_caching import caching_of, confirmed
from inspector.wire.client.observations import Headers
from inspector.wire.discovery import FoundCard

Access: TypeAlias = Callable[[str], Awaitable[tuple[str, Credentials]]]
"""Removes the user name and the password from a URL that the user entered.

Returns that URL, and the credentials for its origin. For a file, it is called with `""`.
"""


@dataclass(frozen=True, slots=True)
class Connection:
    """An agent: its card, the attempts to find it, and the interface in use, None if none is supported.

    `reference` is what the user entered: a URL, a host or the path of a card file. `url` is the URL of the card, `""`
    for a file. `headers` are the headers of the response with the card, `at` is its time in seconds since 1970.
    `confirmed` is the time when the agent last confirmed that the card is current, 0 if it did not. `proposed` are the
    interfaces that the doctor proposed, which the card does not declare. `requested` is the URL that was requested
    first if others redirected to `url`.
    """

    reference: str
    url: str
    found: FoundCard
    choice: Choice | None
    attempts: tuple[CardAttempt, ...]
    findings: tuple[Finding, ...]
    headers: Headers = ()
    at: float = 0.0
    confirmed: float = 0.0
    proposed: tuple[Choice, ...] = ()
    requested: str = ""

    @property
    def choices(self) -> list[Choice]:
        """Return the interfaces to choose from: as declared, as the doctor proposed, then with other versions."""
        listed = alternatives(self.card)
        known = [(choice.interface, choice.dialect) for choice in listed]
        declared = [choice for choice in listed if choice.reason == DECLARED]
        proposed = [choice for choice in self.proposed if (choice.interface, choice.dialect) not in known]
        return [*declared, *proposed, *listed[len(declared) :]]

    @property
    def card(self) -> AgentCard:
        """Return the card as read."""
        return self.found.card

    @property
    def name(self) -> str:
        """Return the name of the agent; if the card has none, its host and port, or the name of its file."""
        return self.card.name or discovery.name_of(self.url or self.reference)

    @property
    def elsewhere(self) -> str:
        """Return that the card was not found below the path that the user entered, `""` if it was."""
        if not self.url or discovery.is_in_catalog(self.reference):
            return ""
        path = discovery.path_without_card(self.reference, self.requested or self.url, self.card)
        return f"no valid card was found below {path}; this is the card of the host" if path else ""


class Target(NamedTuple):
    """Where a call is sent: an interface with its absolute URL, the card of the agent, and the credentials."""

    choice: Choice
    url: str
    card: AgentCard | None
    credentials: Credentials


async def find_card(
    journal: Journal, client: Client, credentials: Credentials, reference: str, *, exact: bool = False
) -> Connection:
    """Find the card of an agent without choosing an interface; raises `FaultError` if there is no card.

    If there is a catalog, raises `CatalogFoundError`. With `exact`, the reference is meant as the URL of the card
    itself, which is tried first.
    """

    def is_card(_: str, fetch: CardFetch) -> bool:
        return isinstance(fetch.found, FoundCard) or fetch.catalog is not None

    fetch, attempts = await search_card(journal, client, credentials, reference, is_card, exact=exact)
    fetch.raise_if_catalog(reference, credentials)
    if fetch.head is None or not isinstance(fetch.found, FoundCard):
        raise ValueError("a card without a response")
    return Connection(
        reference,
        fetch.url,
        fetch.found,
        choice=None,
        attempts=attempts,
        findings=fetch.findings,
        headers=fetch.head.headers,
        at=fetch.head.at,
        requested=fetch.requested,
    )


async def refetch_card(journal: Journal, client: Client, credentials: Credentials, before: Connection) -> Connection:
    """Fetch the card from its URL if it has changed; otherwise `found` stays the same object.

    The interface in use is not chosen again. Raises `FaultError` if there is no card any more.
    """
    conditions = caching_of(before.headers).conditions
    fetch = await fetch_card(journal, client, credentials, before.url, conditions)
    head = fetch.head
    if head is not None and head.status == HTTPStatus.NOT_MODIFIED and conditions:
        return replace(before, confirmed=head.at, headers=confirmed(before.headers, head.headers))
    if head is None or not isinstance(fetch.found, FoundCard):
        if fetch.fault is not None:
            raise FaultError(fetch.fault)
        raise card_not_found(journal.redactor, journal.redactor.url(fetch.url), [fetch])
    attempts = (CardAttempt(journal.redactor.url(fetch.url), "found", fetch.number),)
    return _updated(
        before, fetch.found, fetch.findings, head.at, headers=head.headers, url=fetch.url, attempts=attempts
    )


def read_card_file(journal: Journal, reference: str, before: Connection | None = None) -> Connection | None:
    """Read and record a card file; return None if the reference is not a file; raises `FaultError`.

    No interface is chosen. If the file was read before, `before` is the connection from that time.
    """
    path = local_path(reference)
    if path is None:
        return None
    connection = card_inside(journal, discovery.read_file(path), reference)
    if before is not None:
        return _updated(before, connection.found, connection.findings, connection.at)
    return connection


def card_inside(journal: Journal, found: FoundCard, reference: str, url: str = "") -> Connection:
    """Record a card that was read from a file or from a document at `url`, and return its connection."""
    at = time.time()
    findings, label = journal.checker.lint(found.raw), f"the card of {reference}"
    payload = len(found.raw), journal.redactor.body(found.raw)
    journal.append(Kind.NOTE, at, event="card", label=label, payloads=[payload], findings=findings)
    return Connection(reference, url, found, None, (), findings, at=at)


def _updated(
    before: Connection, found: FoundCard, findings: tuple[Finding, ...], at: float, **members: Any
) -> Connection:
    """Return a connection with a card that was read again; identical bytes confirm the card."""
    if found.raw == before.found.raw:
        return replace(before, findings=findings, headers=members.get("headers", ()), at=at, confirmed=at)
    return replace(before, found=found, findings=findings, at=at, confirmed=0.0, **members)


def same_choice(choice: Choice | None, card: AgentCard) -> Choice | None:
    """Return a choice with its interface taken from a new card, None if the new card lacks this interface."""
    interfaces = card.supported_interfaces if choice else ()
    same = next((interface for interface in interfaces if choice and interface == choice.interface), None)
    return replace(choice, interface=same) if choice and same else None


def mask_reference(redactor: Redactor, url: str, userinfo: str) -> None:
    """Mask the password and the secret query parameters of a reference in all records."""
    if userinfo:
        redactor.add(basic(userinfo).partition(" ")[2])
        user, colon, password = userinfo.partition(":")
        redactor.add(unquote(password if colon else user))  # a token without a password is written as the user
    for name, value in parse_qsl(url.partition("#")[0].partition("?")[2]):
        if value not in redactor.url(f"?{name}={value}"):
            redactor.add(value)


def unavailable_reason(operation: Operation, choice: Choice | None, card: AgentCard) -> str:
    """Return why an operation is not available, `""` if it is.

    Streaming and push are available unless the card declares `false`, because many cards do not mention them.
    """
    if choice is None:
        return "the card has no supported interface"
    if not choice.binding.offers(choice.dialect, operation):
        return not_offered(operation, choice)
    capabilities = card.capabilities
    if operation in STREAMING and capabilities.streaming is False:
        return "the card declares streaming: false"
    if operation in PUSH and capabilities.push_notifications is False:
        return "the card declares pushNotifications: false"
    if operation is Operation.EXTENDED_CARD and not capabilities.extended_agent_card:
        return "the card declares no extended card"
    return ""


def no_interface_fault(card: AgentCard, version: str) -> Fault:
    """Return the fault of a card without an interface that can be used with the requested version, if there is one."""
    declared = options(card)
    if version:
        seen = f"No interface on the card can be used with version {version}."
        hint = "Leave out --a2a-version, or request a version that the binding of an interface supports."
        return Fault(Whose.YOURS, VERSION_NOT_SUPPORTED, seen, hint)
    old = list(dict.fromkeys(option.dialect.version for option in declared if option.dialect and option.usable))
    if old:
        seen = f"The card declares only A2A {' and '.join(old)}, which is older than 1.0 and used only on request."
        return Fault(Whose.AGENT, VERSION_NOT_SUPPORTED, seen, f"Request it: --a2a-version {old[0]}.")
    reasons = "; ".join(option.reason for option in declared) or "it declares none"
    seen = f"The card declares no interface that a2a-inspect can use ({reasons})."
    hint = "Use an agent with an interface over JSONRPC, HTTP+JSON or GRPC, in a version from 0.1 to 1.0."
    return Fault(Whose.AGENT, "UnsupportedOperationError" if declared else FaultCode.CARD_INVALID, seen, hint)


def not_offered(operation: Operation, choice: Choice) -> str:
    """Return a sentence: the protocol version of an interface, over its binding, does not have an operation."""
    return f"A2A {choice.dialect.version} over {choice.binding.name} does not have {operation.value}"
