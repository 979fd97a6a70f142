"""Explain a response that demands credentials: why those that were sent were not accepted, and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from inspector.protocol.card import AgentCard
from inspector.protocol.challenge import Challenge, is_login_page, read_challenges
from inspector.protocol.errors import OTHER_REASONS, Fault, FaultCode, FaultKind, Whose
from inspector.protocol.http_status import REDIRECTING
from inspector.protocol.model import Json
from inspector.protocol.oauth import claimed_date
from inspector.protocol.security import requirements, requirements_in_words
from inspector.text.units import duration
from inspector.wire.client.credentials import origin
from inspector.wire.client.faults import PROXY_HINT
from inspector.wire.client.observations import Head
from inspector.wire.discovery import LOGIN_PAGE_HINT

CREDENTIALS_HINT = "Add --bearer or --header; credentials are sent only to the origin of the URL that you type."
"""What to do if nothing is known about why credentials are required."""
FORBIDDEN_HINT = f"{OTHER_REASONS} If credentials are missing: {CREDENTIALS_HINT[0].lower()}{CREDENTIALS_HINT[1:]}"
"""What to do if nothing is known about the reason for a refusal, and the request had no credentials."""
REJECTED_HINT = (
    "The request had credentials, which were rejected: check that they are for this agent and for this operation."
)
"""What to do if nothing is known about why credentials were rejected; what the card requires follows."""
MEANING_OF_STATUS = {401: "The agent requires credentials", 403: "The agent refused the request"}
"""What the statuses mean: 403 can have other reasons than credentials."""
_REJECTED = "The agent rejected the credentials"
"""What 401 means if the request had credentials."""
PROXY = 407
"""The status with which a proxy asks for credentials."""
CODE_OF_STATUS = {401: FaultCode.CREDENTIALS_MISSING, 403: FaultCode.AUTH_FAILED}
_LEEWAY = 60.0
"""The number of seconds that clocks may differ."""
_NEW_TOKEN = "Get a new token."  # noqa: S105 - a sentence


_URL_PARAMETER = re.compile(r',?[ \t]{0,8}(?<![\w-])[\w-]{1,64}[ \t]{0,8}=[ \t]{0,8}"[a-z]{1,16}://[^"]*"')
"""A parameter of a challenge with a URL, for example `resource_metadata`: only programs use it, and it is long."""


class SentToken(NamedTuple):
    """What is known about the token in a request: its URL, the claims of a JWT, and when it was sent."""

    url: str = ""
    claims: Mapping[str, Json] = {}
    at: float = 0.0


class Cause(NamedTuple):
    """Why a token was rejected, as a sentence, and what to do."""

    seen: str
    remedy: str


def explain_head(head: Head, token: SentToken) -> Fault | None:
    """Return the fault if the head of a response demands credentials, None if it does not."""
    fields = head.fields()
    challenge, location = fields.get("www-authenticate", ""), fields.get("location", "")
    if head.status in CODE_OF_STATUS:
        cause = explain_token(head.status, read_challenges(challenge) or (), "", token)
        shown = "" if cause else _URL_PARAMETER.sub("", challenge)
        return denial(head.status, f": {head.status} {head.reason}{f', {shown}' if shown else ''}", cause)
    if head.status == PROXY:
        asked = fields.get("proxy-authenticate", "")
        seen = f"The proxy requires credentials: {head.status} {head.reason}{f', {asked}' if asked else ''}."
        return Fault(Whose.YOURS, FaultCode.UNREACHABLE, seen, PROXY_HINT)
    if head.status in REDIRECTING and is_login_page(location, token.url):
        seen = f"The interface redirects ({head.status}) to a login page: {location}."
        return Fault(Whose.AGENT, FaultCode.UNREACHABLE, seen, LOGIN_PAGE_HINT)
    return None


def denial(status: int, details: str, cause: Cause | None) -> Fault:
    """Return the fault of a response that demands credentials, with the cause if it is known."""
    seen = f"{MEANING_OF_STATUS[status]}{details}."
    if cause:
        return Fault(Whose.YOURS, CODE_OF_STATUS[status], f"{seen} {cause.seen}", cause.remedy, cause=cause.seen)
    hint = FORBIDDEN_HINT if status == 403 else CREDENTIALS_HINT
    return Fault(Whose.YOURS, CODE_OF_STATUS[status], seen, hint, kind=FaultKind.UNEXPLAINED_DENIAL)


def explain_rejected(fault: Fault, card: AgentCard | None) -> Fault:
    """Return the fault of a request that had credentials, with what the card requires; a known cause stays."""
    if fault.kind is not FaultKind.UNEXPLAINED_DENIAL:
        return fault
    required = f" The card requires {requirements_in_words(card)}." if card and requirements(card) else ""
    seen = fault.seen.replace(MEANING_OF_STATUS[401], _REJECTED, 1)
    return replace(fault, seen=seen, hint=f"{REJECTED_HINT}{required}", kind=FaultKind.UNEXPLAINED_REJECTION)


def explain_token(status: int, challenges: tuple[Challenge, ...], words: str, token: SentToken) -> Cause | None:
    """Return why a token was rejected, None if that is not known.

    `words` is what the agent wrote about it. The claims of the token are only compared, nothing is sent.
    """
    bearer = next((challenge for challenge in challenges if challenge.is_bearer), Challenge("Bearer"))
    text = f"{words} {bearer.get('error_description')}".lower()
    return (
        _expired(text, token)
        or _not_yet_valid(token)
        or _lacks_scope(status, bearer, token)
        or _other_audience(text, token)
    )


def _expired(text: str, token: SentToken) -> Cause | None:
    expiry = claimed_date(token.claims, "exp")
    if expiry is not None and expiry <= token.at:
        return Cause(f"The token expired {duration(token.at - expiry)} ago.", _NEW_TOKEN)
    return Cause("The token has expired.", _NEW_TOKEN) if "expired" in text else None


def _not_yet_valid(token: SentToken) -> Cause | None:
    dates = [claimed_date(token.claims, name) for name in ("nbf", "iat")]
    begins = max((date for date in dates if date is not None), default=0.0)
    if begins - token.at <= _LEEWAY:
        return None
    seen = f"The token is valid only in {duration(begins - token.at)}."
    return Cause(seen, "Compare the clock of this machine with that of the authorization server.")


def _lacks_scope(status: int, bearer: Challenge, token: SentToken) -> Cause | None:
    needed, granted = bearer.get("scope").split(), token.claims.get("scope", token.claims.get("scp"))
    listed = granted.split() if isinstance(granted, str) else granted if isinstance(granted, list) else None
    missing = [scope for scope in needed if scope not in listed] if listed is not None else needed
    if bearer.get("error") != "insufficient_scope" and not (status == 403 and missing and listed is not None):
        return None
    if not missing:
        return Cause(
            "The token lacks a scope, which the agent does not name.", "See the scopes of the skills on the card."
        )
    scopes = " ".join(missing)
    return Cause(f"The token lacks the scope {scopes}.", f"Get a token with the scope {scopes}.")


def _other_audience(text: str, token: SentToken) -> Cause | None:
    named = token.claims.get("aud")
    listed = named if isinstance(named, list) else [named]
    audiences = [audience for audience in listed if isinstance(audience, str)]
    here = origin(token.url)
    are_urls = bool(audiences) and all(audience.startswith(("http://", "https://")) for audience in audiences)
    other = are_urls and bool(here) and here not in map(origin, audiences)
    if not other and "audience" not in text:
        return None
    names = ", ".join(audiences)
    seen = f"The token is for another audience{f': {names}' if names else ''}."
    return Cause(seen, f"Get a token for {here or 'this agent'}: configure the audience at the authorization server.")
