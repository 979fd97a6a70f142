"""Find the card of another agent, to compare it with the card of the agent of a session."""

from __future__ import annotations

from dataclasses import replace

from inspector.session.connection import Connection, mask_reference
from inspector.session.session import Session
from inspector.text.reference import with_scheme
from inspector.wire.client.credentials import Credentials, basic, origin, split_userinfo


async def find_other_card(session: Session, reference: str, home: str) -> Connection:
    """Find a card to compare with that of the agent `home`; raises `FaultError`.

    The credentials of the session are for that agent: only its origin and trusted origins get them.
    """

    async def access(url: str) -> tuple[str, Credentials]:
        plain, userinfo = split_userinfo(url)
        mask_reference(session.journal.redactor, plain, userinfo)
        if userinfo:
            return plain, Credentials({"Authorization": basic(userinfo)}, frozenset({origin(plain)}))
        return plain, session.settings.credentials(origin(with_scheme(home)))

    return await replace(session.cards, access=access).find(reference)
