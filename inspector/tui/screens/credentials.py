"""The dialog for credentials: a bearer token, an API key or another header, for one origin."""

from __future__ import annotations

import re
from collections.abc import Mapping

from inspector.capture.redaction import Redactor
from inspector.protocol.security import DEFAULT_KEY_PLACE, key_place
from inspector.session.authentication import masked
from inspector.session.session import Session
from inspector.tui.screens.form import CHOICE, Choice, Field, FormScreen
from inspector.wire.client.credentials import origin

_BEARER, _KEY, _HEADER, _REMOVE = "bearer", "key", "header", "remove"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The name of a header (RFC 9110 section 5.1)."""


def credentials_screen(session: Session) -> FormScreen:
    """Return the dialog; `use` applies its values to the session."""
    card = session.connection.card if session.connection else None
    location, name = key_place(card) if card else DEFAULT_KEY_PLACE
    other = "" if card else ", or the place that the card declares"
    url = session.agent_url
    choices = [
        Choice(_BEARER, "Bearer token (header Authorization)", ("token", "origin")),
        Choice(
            _KEY,
            f"API key ({location} {name}{other})",
            ("key", "origin"),
        ),
        Choice(_HEADER, "Another header", ("name", "value", "origin")),
    ]
    if session.entered:
        choices.append(Choice(_REMOVE, "Remove the credentials that were entered here"))
    fields = (
        Field("token", "Token", "sent as Authorization: Bearer", secret=True),
        Field("key", "API key", secret=True),
        Field("name", "Header", "for example X-Tenant-Token"),
        Field("value", "Value", secret=True),
        Field("origin", "Sent only to", "http://host:port", value=origin(url)),
    )
    screen = FormScreen("Credentials, for this session only", fields, choices, check=_problem)
    sent = masked(session.credentials, url)
    screen.set_title("Credentials", f"now sent: {', '.join(sent)}" if sent else "now sent: none")
    return screen


def _problem(values: Mapping[str, str]) -> str:
    kind = values[CHOICE]
    if kind == _REMOVE:
        return ""
    secret = values.get("token") or values.get("key") or values.get("value") or ""
    if not secret:
        return "Enter the secret."
    if not secret.isprintable() or not secret.isascii():
        return "The secret contains characters that are not allowed in a header."
    if Redactor([secret]).text(secret) == secret:
        return "The secret is too short or too common to be masked in the capture."
    if kind == _HEADER and not _TOKEN.fullmatch(values["name"]):
        return "This is not the name of a header."
    if not origin(values["origin"]):
        return "Enter the origin of the agent: http:// or https://, the host and the port."
    return ""


def use(session: Session, values: Mapping[str, str]) -> None:
    """Send what was entered with new requests; from now on it is masked in all records."""
    match values[CHOICE]:
        case "bearer":
            session.entered.add_bearer(values["origin"], values["token"].removeprefix("Bearer "))
        case "key":
            session.entered.add_key(values["origin"], values["key"])
        case "header":
            session.entered.add_header(values["origin"], values["name"], values["value"])
        case _:
            session.entered.clear()
