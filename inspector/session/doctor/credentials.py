"""Compare the credentials that an agent demands with those that its card declares; nothing is sent for it."""

from __future__ import annotations

from inspector.protocol.card import AgentCard
from inspector.protocol.challenge import Challenge, read_challenges
from inspector.protocol.errors import Fault, FaultKind
from inspector.protocol.security import authentication_schemes, declares, offers_login, requirements_in_words
from inspector.session.credential_options import credential_options
from inspector.session.doctor.steps import CREDENTIALS, Step
from inspector.session.exchange import Exchange

_UNAUTHORIZED = 401
_NO_CHALLENGE = "Send WWW-Authenticate with the scheme: clients cannot know otherwise which credentials are demanded."
_UNDECLARED = "Declare the demanded scheme on the card, or send a challenge of a scheme on the card."
LOG_IN = "Log in (a2a-inspect auth login), or add --bearer or --header."
"""The remedy if the card declares a scheme with a login."""


def demanded_in_words(exchange: Exchange) -> str:
    """Return which scheme a response demands, with the scopes that it names; `""` if it names none."""
    return ", or ".join(map(_in_words, _challenges(exchange)))


def credentials_step(card: AgentCard, exchange: Exchange) -> Step:
    """Return the check whether the card declares what a response demands; None as result if that is not known."""
    declared = requirements_in_words(card)
    challenges = _challenges(exchange)
    sent = exchange.circumstances.authorization
    seen = f"demanded: {demanded_in_words(exchange) or 'credentials of an unknown scheme'}; declared: {declared}; "
    seen += f"sent in Authorization: {sent or 'none'}"  # API keys may be sent elsewhere
    if not challenges:
        missing = exchange.status == _UNAUTHORIZED
        return Step(CREDENTIALS, False if missing else None, seen, remedy=_NO_CHALLENGE if missing else "")
    matches = any(declares(authentication_schemes(card), challenge.scheme) for challenge in challenges)
    return Step(CREDENTIALS, matches, seen, remedy="" if matches else _UNDECLARED, exchange=exchange.number)


def options_for(fault: Fault, card: AgentCard | None) -> str:
    """Return the options with the credentials that a response demands; `""` if some were sent or the cause is known."""
    if fault.kind is not FaultKind.UNEXPLAINED_DENIAL or card is None:
        return ""
    options = credential_options(card)
    return LOG_IN if offers_login(card) else f"Add {options}." if options else ""


def _challenges(exchange: Exchange) -> tuple[Challenge, ...]:
    fields = exchange.head.fields() if exchange.head else {}
    return read_challenges(fields.get("www-authenticate", "")) or ()


def _in_words(challenge: Challenge) -> str:
    scopes = challenge.get("scope")
    return challenge.scheme + (f" with {', '.join(scopes.split())}" if scopes else "")
