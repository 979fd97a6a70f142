"""The dialogs for credentials: a menu of the ways to get them, and the form of a secret that the user has."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum

from rich.cells import cell_len
from textual.app import ComposeResult

from inspector.capture.redaction import Redactor
from inspector.protocol.errors import FaultError, usage_error
from inspector.protocol.security import DEFAULT_KEY_PLACE, Grant, HttpScheme, key_place, security_schemes
from inspector.session.exchanges import Reachability
from inspector.session.login.logins import last_refusal
from inspector.session.login.options import LoginOption
from inspector.session.session import Session
from inspector.text.sanitise import clean_line
from inspector.text.typed_path import typed_path
from inspector.tui.keys import key_of
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.login_lines import login_in_words
from inspector.tui.render.text_lines import Paragraph, Paragraphs, column_width, padded, without_head
from inspector.tui.screens.dialog import FITTED
from inspector.tui.screens.form import Field, FormScreen
from inspector.tui.screens.menu import Entry, MenuScreen
from inspector.tui.widgets.fact_view import FactView
from inspector.wire.client.client_certificate import (
    ClientCertificate,
    PassphraseError,
    read_client_certificate,
)
from inspector.wire.client.credentials import origin

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The name of a header (RFC 9110 section 5.1)."""
_LONGEST_NAME = 30
"""The most cells for the name of a scheme."""
_GRANTS = {
    Grant.AUTHORIZATION_CODE: "in a browser",
    Grant.DEVICE_CODE: "with a code on any device",
    Grant.CLIENT_CREDENTIALS: "as a client, without a user",
}
_LONGEST_REASON = 200
_WIDTH = 100


class Secret(Enum):
    """A kind of secret that the user enters."""

    BEARER = "Bearer token (header Authorization)"
    BASIC = "User name and password (header Authorization)"
    KEY = "API key"
    SCHEME = "Another HTTP scheme (header Authorization)"
    HEADER = "Another header"
    CERTIFICATE = "Client certificate (TLS)"


class Change(Enum):
    """A change of the credentials in use, or of where they are sent."""

    TRUST = "trust"
    REFRESH = "refresh"
    LOG_OUT = "log out"
    REMOVE = "remove"


class CredentialsScreen(MenuScreen):
    """Shows what the card requires and what of it is met; returns a `LoginOption`, a `Secret` or a `Change`."""

    def __init__(self, session: Session, glyphs: Glyphs) -> None:
        super().__init__("Credentials", list(_entries(session)))
        self._required = _required(session, glyphs)
        self.frame.styles.width = _WIDTH
        sent = session.credentials.authentication.sent
        self.set_title("Credentials", f"now sent: {', '.join(sent)}" if sent else "now sent: none")

    def body(self) -> ComposeResult:
        """Make the requirements above the list."""
        yield FactView(Paragraphs(self._required), id="required")
        for listed in super().body():
            listed.styles.width = "100%"
            yield listed.remove_class(FITTED)  # the list shares the height

    def on_resize(self) -> None:
        """Share the height between the requirements and the list, also after the lines are wrapped."""
        self._share()
        self.call_after_refresh(self._share)

    def _share(self) -> None:
        required, listed = self.query_one("#required", FactView), self.query_one("#menu-list")
        room = self.most_lines - 1  # a blank line between the lists
        most = max(1, room // 2, room - len(self._entries))
        wrapped = max(1, required.virtual_size.height)
        required.styles.max_height = most
        listed.styles.max_height = max(1, room - min(most, wrapped))
        required.can_focus = wrapped > most  # to scroll it with keys


def _required(session: Session, glyphs: Glyphs) -> list[Paragraph]:
    """Return the alternatives of the card, and which of them are met."""
    refused = _refusal(session)
    if session.connection is None:
        text = "The card was not received, so it is not known what the agent requires and how to log in."
        return [without_head(text, "line--soft"), *refused]
    alternatives = session.credentials.authentication.alternatives(session.connection.card)
    lines = []
    if not alternatives:
        lines.append(without_head("The card requires no credentials.", "line--soft"))
        if refused:
            keys = f"press {key_of('back')}, then {key_of('refresh')} in Agent"
            hint = f"The card may have changed: {keys} to fetch it again."
            refused.append(without_head(hint, "line--warning"))
    else:
        text = "The card requires one of these:" if len(alternatives) > 1 else "The card requires:"
        lines.append(without_head(text, "line--soft"))
    width = column_width(alternative.words for alternative in alternatives)
    for alternative in alternatives:
        sign, style = (glyphs.cross, "line--warning") if alternative.missing else (glyphs.check, "line--good")
        text = f"{padded(alternative.words, width)}   {alternative.result}"
        lines.append(Paragraph((f"  {sign} ", style), text, "line--text"))
    if (token := session.credentials.token) is not None:
        problem = session.credentials.authentication.not_renewed
        sign, style = (glyphs.cross, "line--warning") if problem else (glyphs.check, "line--good")
        lines.append(Paragraph((f"{sign} ", style), login_in_words(token, time.time(), problem), style))
    return [*lines, *refused]


def _refusal(session: Session) -> list[Paragraph]:
    """Return why the agent refused the last request, nothing if it did not."""
    url = session.agent_url
    state = session.journal.exchanges.host_state(url)
    status, challenges = last_refusal(session.journal, url)
    if not status or state is None or state.state is not Reachability.CREDENTIALS_NEEDED:
        return []
    reasons = (each.get("error_description") or each.get("error") for each in challenges)
    reason = next((f": {clean_line(reason, _LONGEST_REASON)}" for reason in reasons if reason), "")
    text = f"The agent refused the last request with {status}{reason}."
    if scopes := session.credentials.logins.missing_scopes():
        text += f" Log in with the scopes {clean_line(', '.join(scopes), _LONGEST_REASON)}."
    return [Paragraph(("! ", "line--bad"), text, "line--warning")]


def _entries(session: Session) -> Sequence[Entry | str]:
    """Return the lines of the menu: changes of the credentials in use, the ways to log in, the secrets to enter."""
    lines: list[Entry | str] = []
    options = session.credentials.logins.options
    if options:
        names = [clean_line(option.scheme, _LONGEST_NAME) for option in options]
        widest = max(map(cell_len, names))
        lines.append("Log in")
        lines += [_entry(option, padded(name, widest)) for option, name in zip(options, names, strict=True)]
    lines.append("Enter a secret")
    lines += [Entry(_label(session, secret), secret) for secret in Secret]
    token = session.credentials.token
    changes = []
    if place := session.credentials.withheld_from:
        changes.append(Entry(f"Send the given credentials to {clean_line(place, 60)}, too", Change.TRUST))
    if token is not None:
        if token.can_renew:
            changes.append(Entry("Request a new token now", Change.REFRESH))
        changes.append(Entry(f"Log out of {clean_line(token.key.scheme, _LONGEST_NAME)}", Change.LOG_OUT))
    if session.credentials.entered:
        changes.append(Entry("Remove the secrets that were entered here", Change.REMOVE))
    return ["Your credentials", *changes, *lines] if changes else lines


def _entry(option: LoginOption, name: str) -> Entry:
    grant = f"({option.grant.value})"
    if option.refused:
        return Entry(f"{name}  {grant} is not used", option, quiet=True)
    return Entry(f"{name}  {_GRANTS[option.grant]} {grant}", option)


def _label(session: Session, secret: Secret) -> str:
    if secret is not Secret.KEY:
        return str(secret.value)
    location, name = _place(session)
    other = "" if session.connection else ", or the place that the card declares"
    return f"{secret.value} ({location} {clean_line(name, _LONGEST_NAME)}{other})"


def _place(session: Session) -> tuple[str, str]:
    return key_place(session.connection.card) if session.connection else DEFAULT_KEY_PLACE


def secret_form(session: Session, secret: Secret, unfinished: dict[Secret, Mapping[str, str]]) -> FormScreen:
    """Return the form for a secret; `use` applies its values to the session.

    `unfinished` has the values of forms that were closed before they were confirmed, which are shown again.
    """
    typed = unfinished.pop(secret, {})
    match secret:
        case Secret.BEARER:
            fields = [Field("secret", "Token", "sent as Authorization: Bearer", secret=True)]
        case Secret.BASIC:
            fields = [Field("name", "User name"), Field("secret", "Password", secret=True)]
        case Secret.KEY:
            fields = [Field("secret", "API key", secret=True)]
        case Secret.SCHEME:
            named = Field("name", "Scheme", "for example Digest", value=_other_scheme(session))
            fields = [named, Field("secret", "Credentials", "what follows the scheme in the header", secret=True)]
        case Secret.HEADER:
            fields = [Field("name", "Header", "for example X-Tenant-Token"), Field("secret", "Value", secret=True)]
        case Secret.CERTIFICATE:
            fields = [
                Field("name", "Certificate", "a PEM or PKCS#12 file"),
                Field("key", "Private key", "a PEM file; empty if the key is in the same file"),
                Field("secret", "Passphrase", "empty if the key has none", secret=True),
            ]
    where = Field("origin", "Sent only to", "http://host:port", value=origin(session.agent_url))
    title = f"{_label(session, secret)}, for this session only"
    shown = [replace(field, value=typed.get(field.name, field.value)) for field in (*fields, where)]

    def keep(values: Mapping[str, str]) -> None:
        unfinished[secret] = values

    return FormScreen(title, shown, check=lambda values: _problem(secret, values), on_close=keep)


def _other_scheme(session: Session) -> str:
    """Return the HTTP scheme of the card that has no form of its own, `""` without one."""
    schemes = security_schemes(session.connection.card).values() if session.connection else ()
    names = (scheme.scheme for scheme in schemes if isinstance(scheme, HttpScheme))
    return next((name for name in names if name.lower() not in ("bearer", "basic") and _TOKEN.fullmatch(name)), "")


def _problem(kind: Secret, values: Mapping[str, str]) -> str:
    secret, name = values["secret"], values.get("name", "")
    if kind is Secret.CERTIFICATE:
        if not origin(values["origin"]).startswith("https:"):
            return "Enter the origin of the agent: https://, the host and the port."
        try:
            _certificate(values)
        except FaultError as error:
            return error.fault.seen
        return ""
    if kind is Secret.BASIC and (not name or ":" in name):
        return "Enter the user name, which cannot contain a colon."
    if not secret:
        return "Enter the secret."
    if kind is not Secret.BASIC and (not secret.isprintable() or not secret.isascii()):
        return "The secret contains characters that are not allowed in a header."
    if Redactor([secret]).text(secret) == secret:
        return "The secret is too short or too common to be masked in the capture."
    if kind in (Secret.HEADER, Secret.SCHEME) and not _TOKEN.fullmatch(name):
        return "This is not the name of a header." if kind is Secret.HEADER else "This is not the name of a scheme."
    if not origin(values["origin"]):
        return "Enter the origin of the agent: http:// or https://, the host and the port."
    return ""


def _certificate(values: Mapping[str, str]) -> ClientCertificate:
    """Read the certificate that was entered; raises `FaultError`."""
    try:
        certificate, key = typed_path(values["name"]), typed_path(values["key"]) if values["key"] else None
    except OSError as error:
        raise usage_error(f"{error.filename} cannot be read: {error.strerror}.") from error
    return read_client_certificate(certificate, key, passphrase=values["secret"])


def passphrase_form(needed: PassphraseError) -> FormScreen:
    """Return the form for the passphrase of the client certificate in the options."""
    fields = [Field("passphrase", "Passphrase", secret=True)]
    return FormScreen("Passphrase of the client certificate", fields, description=needed.fault.seen)


def use(session: Session, kind: Secret, values: Mapping[str, str]) -> None:
    """Send what was entered with new requests; from now on it is masked in all records."""
    entered, place = session.credentials.entered, values["origin"]
    secret, name = values["secret"], values.get("name", "")
    match kind:
        case Secret.BEARER:
            entered.add_bearer(place, secret.removeprefix("Bearer "))
        case Secret.BASIC:
            entered.add_basic(place, name, secret)
        case Secret.KEY:
            entered.add_key(place, secret)
        case Secret.SCHEME:
            entered.add_scheme(place, name, secret)
        case Secret.HEADER:
            entered.add_header(place, name, secret)
        case Secret.CERTIFICATE:
            entered.add_certificate(place, _certificate(values), secret)
