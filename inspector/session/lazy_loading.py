"""Functions that import a feature of the session on first use, so that a command loads only what it uses.

`checker.py` loads the rules in the same way.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from pathlib import Path

    from inspector.capture.records import Record
    from inspector.findings.signatures.keyset import KeySet
    from inspector.protocol.bindings.base import WireRequest
    from inspector.protocol.card import AgentCard
    from inspector.protocol.model import SendRequest
    from inspector.protocol.selection import Choice
    from inspector.session.card.changes import CardHistory
    from inspector.session.compose.build import ComposedMessage
    from inspector.session.compose.checks import MessageWarning
    from inspector.session.compose.draft import Draft
    from inspector.session.exchange import CallContext
    from inspector.session.journal import Journal
    from inspector.session.login.logins import Logins
    from inspector.session.push.service import PushService
    from inspector.session.tasks import TaskFold
    from inspector.wire.client.http import Client

_MODULES = (
    "inspector.findings.lint",
    "inspector.findings.stream.judge",
    "inspector.session.call_factory",
    "inspector.session.card.changes",
    "inspector.session.compose.build",
    "inspector.session.compose.checks",
    "inspector.session.compose.raw_request",
    "inspector.session.exporters.curl",
    "inspector.session.login.logins",
    "inspector.session.push.service",
    "inspector.session.replay.resend",
)


def load_features() -> None:
    """Import the modules in `_MODULES` in advance, so that features of the app do not wait for them."""
    for module in _MODULES:
        import_module(module)


def card_history() -> CardHistory:
    """Return an empty history of a card."""
    from inspector.session.card.changes import CardHistory  # noqa: PLC0415 - see above

    return CardHistory()


def push_service(journal: Journal, tasks: TaskFold, **options: Any) -> PushService:
    """Return a new push service; loads the rules and the checks of webhooks, but not aiohttp."""
    from inspector.session.push.service import PushService  # noqa: PLC0415 - see above

    return PushService(journal, tasks, **options)


def logins(
    journal: Journal,
    client: Client,
    card: Callable[[], AgentCard | None],
    url: Callable[[], str],
    trusted: Callable[[], frozenset[str]],
) -> Logins:
    """Return the logins of a session."""
    from inspector.session.login.logins import Logins  # noqa: PLC0415 - see above

    return Logins(journal, client, card, url, trusted)


def tls_context(certificate: Path, key: Path | None) -> ssl.SSLContext:
    """Return the TLS context of the receiver; raises `FaultError` for an invalid certificate."""
    from inspector.wire.receiver.listen_address import tls_context  # noqa: PLC0415 - see above

    return tls_context(certificate, key)


def keys_in(path: Path) -> KeySet:
    """Return the public keys in a file; raises `FaultError`."""
    from inspector.wire.signing_keys import read_file  # noqa: PLC0415 - see above

    return read_file(path)


def compose(draft: Draft, **members: Any) -> ComposedMessage:
    """Build the request of a draft."""
    from inspector.session.compose.build import compose  # noqa: PLC0415 - see above

    return compose(draft, **members)


def check_message(
    request: SendRequest, *, stream: bool, choice: Choice, card: AgentCard, tasks: TaskFold
) -> tuple[MessageWarning, ...]:
    """Return warnings about a message."""
    from inspector.session.compose.checks import check_message  # noqa: PLC0415 - see above

    return check_message(request, stream=stream, choice=choice, card=card, tasks=tasks)


def raw_request(text: str, wire: WireRequest, call: CallContext) -> tuple[WireRequest, CallContext]:
    """Read a raw request, made from `wire`, and return it with its context; raises `FaultError`."""
    from inspector.session.compose.raw_request import raw_context, read_request  # noqa: PLC0415 - see above

    read = read_request(text, wire, call)
    return read, raw_context(read, call)


def raw_context(wire: WireRequest, call: CallContext) -> CallContext:
    """Return the context of a raw request that was not made from another request."""
    from inspector.session.compose.raw_request import raw_context  # noqa: PLC0415 - see above

    return raw_context(wire, call)


def message_to_resend(request: Record) -> SendRequest:
    """Return the message of a recorded request with a new id; raises `FaultError`."""
    from inspector.session.replay.resend import message_to_resend  # noqa: PLC0415 - see above

    return message_to_resend(request)
