"""The form of a login: the client, its secret, the scopes and the port of the redirect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from inspector.protocol.security import Grant
from inspector.session.login.options import ClientRegistration, LoginOption
from inspector.session.login.redirect import redirect_uri
from inspector.text.sanitise import clean_line
from inspector.tui.screens.form import Field, FormScreen

_SHOWN = 200
_MOST_SCOPES = 6
_LONGEST_SCOPE = 66
"""The longest line about a scope: on a screen of 80 cells, lines are not wrapped and the input has room."""
_HIGHEST_PORT = 65535


def login_form(
    option: LoginOption, before: ClientRegistration, on_close: Callable[[Mapping[str, str]], None] | None = None
) -> FormScreen:
    """Return the form with earlier input; `registration_of` reads its values, also those that `on_close` is given."""
    hint = "or env:NAME" if option.needs_secret else "none for a public client; env:NAME reads a variable"
    needed = "This flow needs the secret of the client." if option.needs_secret else ""
    registered = "as registered at the authorization server"
    client = f"Enter the client id, {registered}."
    fields = [
        Field("client", "Client id", registered, value=before.client_id, required=client),
        Field("secret", "Client secret", hint, value=before.client_secret, secret=True, required=needed),
        Field("scopes", "Scopes", "separated by spaces", value=" ".join(before.scopes)),
    ]
    if option.grant is Grant.AUTHORIZATION_CODE:
        fields.append(Field("port", "Redirect port", value=str(before.redirect_port)))
    title = f"Log in with {clean_line(option.scheme, 60)} ({option.grant.value})"
    description = _description(option, before)
    return FormScreen(title, fields, check=_port_problem, description=description, on_close=on_close)


def _description(option: LoginOption, before: ClientRegistration) -> str:
    """Return where the input is sent, which redirect URI has to be registered, and what the scopes mean."""
    lines = _servers(option)
    if option.grant is Grant.AUTHORIZATION_CODE:
        lines.append(f"Redirect URI to register there: {redirect_uri(before.redirect_port)}")
    return "\n".join([*lines, *_scopes(option)])


def _scopes(option: LoginOption) -> list[str]:
    """Return the scopes of a flow; the texts of the agent are marked as such, so that they cannot ask for secrets."""
    if not option.scopes:
        return []
    texts = {name: text.replace('"', "'") for name, text in option.scopes.items()}
    lines = [clean_line(f'{name}: "{text}"' if text else name, _LONGEST_SCOPE) for name, text in texts.items()]
    more = [f"and {len(lines) - _MOST_SCOPES:,} more"] if len(lines) > _MOST_SCOPES else []
    return ["Scopes that the agent describes:", *lines[:_MOST_SCOPES], *more]


def _servers(option: LoginOption) -> list[str]:
    """Return to which servers the login leads, as far as the card names them."""
    server, metadata = _origin(option.token_url), _origin(option.metadata_url)
    if not option.token_url:
        text = f"The metadata at {metadata} names the server to which the client id and the secret are sent."
        return [f"{text} The token is sent to the agent."]
    lines = [f"Authorization server: {server}. The client id and the secret are sent there, the token to the agent."]
    if option.metadata_url and metadata != server:
        lines.append(f"Its metadata is at {metadata}.")
    if len(option.servers) > 1:
        lines.append(f"The page of the login is on another server: {_origin(option.authorization_url)}.")
    return lines


def _origin(url: str) -> str:
    """Return the origin of a URL on the card, as it is written there."""
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets without an address
        return "?"
    return clean_line(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", _SHOWN) if parts.netloc else "?"


def _port_problem(values: Mapping[str, str]) -> str:
    port = values.get("port", "")
    if port and not (port.isascii() and port.isdigit() and 0 < int(port) <= _HIGHEST_PORT):
        return "Enter the port of the redirect, a number between 1 and 65535."
    return ""


def registration_of(values: Mapping[str, str], before: ClientRegistration) -> ClientRegistration:
    """Return the client of the values of the form, with the port of `before` if the port is missing or invalid."""
    scopes = tuple(values["scopes"].replace(",", " ").split())
    port = before.redirect_port if _port_problem(values) else int(values.get("port") or before.redirect_port)
    return ClientRegistration(values["client"], values["secret"], scopes, port)
