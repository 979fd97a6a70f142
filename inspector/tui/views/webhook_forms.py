"""The forms of the Webhooks view, and functions that convert their values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from urllib.parse import urlsplit

from inspector.session.card.signing import given_keys
from inspector.session.session import Session
from inspector.text.short_id import short_id
from inspector.tui.render.text_lines import Paragraph
from inspector.tui.screens.form import CHOICE, Choice, Field, FormScreen
from inspector.wire.receiver.listen_address import tunnels
from inspector.wire.receiver.registration import Proof, Registration, WebhookAuth
from inspector.wire.receiver.response_override import SPELLING, ResponseOverride, read_override

ACCEPT = "accept"
"""The choice that removes all response overrides."""
_OTHER = "other"
_SCOPE = ("times", "registration")

_PROOFS = (
    Choice("authorization", "Bearer       token header, and Authorization: Bearer with the token"),
    Choice("token", "token        the token header alone"),
    Choice("basic", "Basic        Authorization: Basic, with user and password", ("credentials",)),
    Choice("api-key", "API key      X-API-Key, or Authorization: ApiKey", ("credentials",)),
    Choice("hmac", "HMAC         the body signed with a shared secret", ("credentials",)),
    Choice("jwt", "JWT          Authorization: Bearer with a signed JWT", ("jwks", "issuer", "audience")),
)
_PROOF_FIELDS = (
    Field("credentials", "credentials", "user:password, key or secret", secret=True),
    Field("jwks", "JWKS", "the public keys of the agent: a file or URL"),
    Field("issuer", "issuer", "expected iss; empty: any"),
    Field("audience", "audience", "expected aud; empty: any"),
)
_RESPONSES = (
    Choice(ACCEPT, "accept       204, the default: removes all overrides"),
    Choice("200", "200          accepted, with status 200", _SCOPE),
    Choice("202", "202          accepted, with status 202", _SCOPE),
    Choice("302", "302          redirected to the same webhook with ?redirected=1", _SCOPE),
    Choice("401", "401          unauthorized", _SCOPE),
    Choice("404", "404          not found", _SCOPE),
    Choice("429/5", "429          too many requests, Retry-After: 5", _SCOPE),
    Choice("500", "500          internal server error", _SCOPE),
    Choice("503", "503          service unavailable, Retry-After: 1", _SCOPE),
    Choice("204@5", "late         204 after 5 s", _SCOPE),
    Choice("never", "never        no response", _SCOPE),
    Choice("reset", "reset        the connection is reset", _SCOPE),
    Choice("truncated", "truncated    the response is cut off", _SCOPE),
    Choice(_OTHER, "other        418, 429/60, 500@2.5 ...", ("other", *_SCOPE)),
)
_RESPONSE_FIELDS = (
    Field("other", "response", "418, 429/60 (Retry-After), 500@2.5 (after 2.5 s)"),
    Field("times", "deliveries", "how many; empty: all from now on"),
    Field("registration", "registration", "number; empty: all"),
)


def registration(task_id: str, auth: WebhookAuth) -> FormScreen:
    """Return the form for the authentication of deliveries about a task."""
    title = f"Register a webhook for task {short_id(task_id)}"
    basic = auth.scheme == "Basic" and auth.proof == "authorization"
    return FormScreen(
        title, _PROOF_FIELDS, _PROOFS, chosen="basic" if basic else auth.proof, check=_registration_problem
    )


def _registration_problem(values: Mapping[str, str]) -> str:
    match values[CHOICE]:
        case "basic" | "api-key" | "hmac" if not values["credentials"]:
            return "Enter the credentials."
        case "jwt" if not values["jwks"]:
            return "Enter the file or URL of a JWK Set."
        case _:
            return ""


async def auth_of(session: Session, values: Mapping[str, str]) -> WebhookAuth:
    """Return the authentication of deliveries; raises `FaultError` if the keys cannot be read."""
    match values[CHOICE]:
        case "jwt":
            known = await given_keys(session, values["jwks"])
            return WebhookAuth(Proof.JWT, keys=known, issuer=values["issuer"], audience=values["audience"])
        case "token":
            return WebhookAuth(Proof.TOKEN)
        case "authorization":
            return WebhookAuth()
        case scheme:
            return WebhookAuth.of(scheme, values["credentials"])


def response(selected: int, numbers: Collection[int]) -> FormScreen:
    """Return the form for the response to accepted deliveries.

    `selected` is the registration number of the selected delivery (0: none), `numbers` are those of all registrations.
    """
    hint = f"number (selected: {selected}); empty: all" if selected else _RESPONSE_FIELDS[-1].hint
    fields = (*_RESPONSE_FIELDS[:-1], Field("registration", "registration", hint))
    return FormScreen("Response to deliveries", fields, _RESPONSES, check=partial(_response_problem, numbers))


def _response_problem(numbers: Collection[int], values: Mapping[str, str]) -> str:
    if values[CHOICE] == ACCEPT:
        return ""
    if values["times"] and not values["times"].isdecimal():
        return "Enter a number of deliveries, or leave the field empty."
    if values["registration"] and not (values["registration"].isdecimal() and int(values["registration"]) in numbers):
        return "Enter the number of a registration, or leave the field empty."
    return "" if read_override(_override_text(values)) else f"Invalid response. Enter {SPELLING}."


def _override_text(values: Mapping[str, str]) -> str:
    text = values["other"] if values[CHOICE] == _OTHER else values[CHOICE]
    return f"{text}:{values['times']}" if values["times"] else text


def override_of(values: Mapping[str, str], registration: Registration | None) -> ResponseOverride:
    """Return the response override from a valid form, for one registration or for all."""
    override = read_override(_override_text(values), registration)
    if override is None:
        raise ValueError("the form was not checked")
    return override


def url(title: str) -> FormScreen:
    """Return a form for the URL of a webhook."""
    return FormScreen(title, (Field("url", "URL", "http://127.0.0.1:8000/webhook"),), check=_url_problem)


def _url_problem(values: Mapping[str, str]) -> str:
    try:
        parts = urlsplit(values["url"])
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    return "" if good else "Enter a URL that starts with http:// or https:// and contains a host."


async def tunnel_lines(base_url: str, port: int) -> list[Paragraph]:
    """Return instructions for a tunnel, so that agents on other machines can reach the receiver."""
    commands = tunnels(base_url)
    style = "line--text"
    lines = [Paragraph(("1  ", "line--soft"), "Run one of these commands; it prints a public URL.", style)]
    lines += [Paragraph(("   ", "line--soft"), command, "line--good") for command in commands]
    if not commands:
        none = "Neither cloudflared, ngrok nor ssh is on the PATH. Install one of them."
        lines.append(Paragraph(("   ", "line--soft"), none, "line--warning"))
    again = f"Restart a2a-inspect with --receiver-port {port} --public-url URL."
    return [*lines, Paragraph(("2  ", "line--soft"), again, style)]
