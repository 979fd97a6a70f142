"""Compare the card of a session with earlier cards of the agent, and store it for later sessions."""

from __future__ import annotations

from pathlib import Path

from inspector.capture import card_history
from inspector.capture.private_files import CaptureError
from inspector.session.card.changes import EarlierCard
from inspector.session.session import Session


def earlier_cards(session: Session, *, keep: bool) -> tuple[list[EarlierCard], str]:
    """Compare the card with earlier cards of the agent; the second value is an error message or `""`."""
    connection, redactor, problem = session.connection, session.journal.redactor, ""
    if connection is None:
        return [], ""
    url = redactor.url(connection.url) if connection.url else str(Path(connection.reference).absolute())
    raw = redactor.body(connection.found.raw)
    if keep:
        try:
            if not session.history:
                session.history.load(card_history.seen_cards(url))
            card_history.store_card(url, raw, connection.at)
        except CaptureError as error:
            problem = str(error)
    session.history.see(raw, connection.at)
    return session.history.earlier(), problem
