"""The forms of the Webhooks view, and the objects made from their values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from urllib.parse import urlsplit

from inspector.session.card.signing import given_keys
from inspector.session.session import Session
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.render.text_lines import Paragraph
from inspector.tui.screens.form import CHOICE, Choice, Field, FormScreen
from inspector.wire.receiver.listen_address import tunnels
from inspector.wire.receiver.registration import Proof, Registration, WebhookAuth
from inspector.wire.receiver.response_override import SPELLING, ResponseOverride, read_override

ACCEPT = "well"
"""The choice that removes all response overrides."""
_OWN = "own"
_WHOM = ("times", "hook")

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
    Field("jwks", "JWKS", "the agent's public keys: a file or a url"),
    Field("issuer", "issuer", "iss, where it matters"),
    Field("audience", "audience", "aud, where it matters"),
)
_ANSWERS = (
    Choice(ACCEPT, "accept       204, as usual: takes back what was dialled in"),
    Choice("200", "200          accepted, another way", _WHOM),
    Choice("202", "202          accepted, another way", _WHOM),
    Choice("302", "302          redirected to the same webhook, with a mark", _WHOM),
    Choice("401", "401          unauthorized", _WHOM),
    Choice("404", "404          not found", _WHOM),
    Choice("429/5", "429          too many, Retry-After: 5", _WHOM),
    Choice("500", "500          failed", _WHOM),
    Choice("503", "503          busy, Retry-After: 1", _WHOM),
    Choice("204@5", "late         accepted after 5 s", _WHOM),
    Choice("never", "never        no answer at all", _WHOM),
    Choice("reset", "reset        the connection is reset", _WHOM),
    Choice("truncated", "truncated    the answer breaks off", _WHOM),
    Choice(_OWN, "other        418, 429/60, 500@2.5 ...", ("own", *_WHOM)),
)
_ANSWER_FIELDS = (
    Field("own", "answer", "418, 429/60 (Retry-After), 500@2.5 (after 2.5 s)"),
    Field("times", "for the next", "a number; nothing: for good"),
    Field("hook", "hook", "its number; nothing: all of them"),
)


def registration(task_id: str, auth: WebhookAuth) -> FormScreen:
    """Return the form for how deliveries authenticate; with an empty task id it names the task in Chat."""
    title = f"REGISTER A WEBHOOK   task {task_id[:SHORT_ID]}" if task_id else "REGISTER A WEBHOOK   the task in Chat"
    basic = auth.scheme == "Basic" and auth.proof == "authorization"
    return FormScreen(title, _PROOF_FIELDS, _PROOFS, chosen="basic" if basic else auth.proof, check=_wrong_registration)


def _wrong_registration(values: Mapping[str, str]) -> str:
    match values[CHOICE]:
        case "basic" | "api-key" | "hmac" if not values["credentials"]:
            return "What is it to carry?"
        case "jwt" if not values["jwks"]:
            return "Which keys verify it? Name a file or a url with a JWK Set."
        case _:
            return ""


async def auth_of(session: Session, values: Mapping[str, str]) -> WebhookAuth:
    """Return how deliveries have to authenticate; raises `FaultError` for keys that cannot be read."""
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


def answers(hook: int, hooks: Collection[int]) -> FormScreen:
    """Return the form for the response to accepted deliveries; `hook` is the selected one (0: none)."""
    hint = f"its number (selected: {hook}); nothing: all of them" if hook else _ANSWER_FIELDS[-1].hint
    fields = (*_ANSWER_FIELDS[:-1], Field("hook", "hook", hint))
    return FormScreen("ANSWER DELIVERIES", fields, _ANSWERS, check=partial(_wrong_answer, hooks))


def _wrong_answer(hooks: Collection[int], values: Mapping[str, str]) -> str:
    if values[CHOICE] == ACCEPT:
        return ""
    if values["times"] and not values["times"].isdecimal():
        return "For the next how many? A number is due, or nothing."
    if values["hook"] and not (values["hook"].isdecimal() and int(values["hook"]) in hooks):
        return "Which hook? The number of one that there is, or nothing."
    return "" if read_override(_spelled(values)) else f"That is no answer; it is {SPELLING}."


def _spelled(values: Mapping[str, str]) -> str:
    what = values["own"] if values[CHOICE] == _OWN else values[CHOICE]
    return f"{what}:{values['times']}" if values["times"] else what


def override_of(values: Mapping[str, str], registration: Registration | None) -> ResponseOverride:
    """Return the response override from a valid form, for one registration or for all."""
    override = read_override(_spelled(values), registration)
    if override is None:
        raise ValueError("the form was not checked")
    return override


def url(title: str) -> FormScreen:
    """Return a form for the url of a webhook."""
    return FormScreen(title, (Field("url", "url", "http://127.0.0.1:8000/webhook"),), check=_wrong_url)


def _wrong_url(values: Mapping[str, str]) -> str:
    try:
        parts = urlsplit(values["url"])
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    return "" if good else "A url that starts with http:// or https:// and names a host is due."


async def tunnel_lines(base_url: str, port: int) -> list[Paragraph]:
    """Return the steps after which agents on other machines reach the receiver."""
    commands = tunnels(base_url)
    style = "line--text"
    lines = [Paragraph(("1  ", "line--soft"), "Run one of these; it prints a public url.", style)]
    lines += [Paragraph(("   ", "line--soft"), command, "line--good") for command in commands]
    if not commands:
        none = "Neither cloudflared nor ngrok nor ssh is on the PATH; install one of them."
        lines.append(Paragraph(("   ", "line--soft"), none, "line--warning"))
    again = f"Open the inspector again with --receiver-port {port} --public-url and that url."
    return [*lines, Paragraph(("2  ", "line--soft"), again, style)]
