"""The questions that are asked before an origin is trusted in a session, as `--trust` does on the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual.app import App

from inspector.protocol.errors import Fault, FaultError
from inspector.session.connection import Connection
from inspector.session.session import Session
from inspector.tui.keys import key_of
from inspector.wire.discovery import PrivateRedirect, PrivateRedirectError

_TRUST = "trust"


async def follow_redirect(app: App[Any], session: Session, redirect: PrivateRedirect) -> bool:
    """Ask whether to follow a redirect of the card to a private address; if so, trust its origin in the session."""
    credentials = " Your credentials are sent there if it asks for them." if session.credentials.current else ""
    what, link = _words(redirect)
    description = (
        f"{what} to a private address:\n\n  {_place(redirect)}\n\n"
        f"Only this machine or its network can reach this address. With such a {link}, an agent can make you send "
        f"requests to services that are not public.{credentials}"
    )
    answers = (f"Connect once: follow the {link}, in this session only", "Cancel")
    title = f"{link.capitalize()} to a private address"
    return await _ask(app, session, redirect.origin, title, description, answers)


async def refresh_card(app: App[Any], session: Session) -> Connection:
    """Fetch the card again; ask before a redirect to a private address is followed. Raises `FaultError`."""
    while True:
        try:
            return await session.refresh()
        except PrivateRedirectError as error:
            if not await follow_redirect(app, session, error.redirect):
                raise FaultError(refused_fault(error)) from error


def _words(redirect: PrivateRedirect) -> tuple[str, str]:
    """Return what leads to a private address, and the name for it."""
    if redirect.in_catalog:
        return f"An entry of the catalog of {redirect.source} leads", "link"
    return f"The card of {redirect.source} redirects", "redirect"


async def send_credentials(app: App[Any], session: Session) -> bool:
    """Ask whether to send the credentials to an interface at another origin; if so, trust it in the session."""
    place = session.credentials.withheld_from
    if named_by := session.settings.withheld:
        title = "Credentials for an agent of the project"
        description = (
            f"{named_by}, a file of the project, has the URL of this agent:\n\n  {place}\n\n"
            "Your credentials are sent only if you allow it, because a project can name any host. To allow it always, "
            "use --trust or the variable A2ACLI_TRUST."
        )
        return await _ask(app, session, place, title, description, ("Send them in this session", "Do not send them"))
    description = (
        f"The interface in use is at another origin than the one you entered:\n\n  {place}\n\n"
        "Credentials are sent only to the origin you entered, because a card can name any address."
    )
    answers = ("Send them there, too, in this session only", "Do not send them there")
    return await _ask(app, session, place, "Credentials for another origin", description, answers)


async def _ask(
    app: App[Any], session: Session, place: str, title: str, description: str, answers: tuple[str, str]
) -> bool:
    """Show a question with the answers yes and no, of which no is selected."""
    from inspector.tui.screens.form import CHOICE, Choice, FormScreen  # noqa: PLC0415 - it would delay the start

    yes, no = answers
    choices = (Choice(_TRUST, yes), Choice("", no))
    values = await app.push_screen_wait(FormScreen(title, choices=choices, chosen="", description=description))
    trusted = values is not None and values[CHOICE] == _TRUST
    if trusted:
        session.trust(place)
    return trusted


def refused_fault(error: PrivateRedirectError) -> Fault:
    """Return the fault of a redirect that is not followed, with the key that asks the question again."""
    what = "An entry of the catalog leads" if error.redirect.in_catalog else "The card redirects"
    seen = f"{what} to a private address, {_place(error.redirect)}. The {_words(error.redirect)[1]} was not followed."
    hint = f"If you trust the address, press {key_of('refresh')} and choose to connect once."
    return replace(error.fault, seen=seen, hint=hint)


def _place(redirect: PrivateRedirect) -> str:
    """Return where a redirect leads: the origin, and the address unless the origin contains it."""
    place, address = redirect.origin, redirect.address
    return place if address in place else f"{place} ({address})"
