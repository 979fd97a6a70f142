"""Verify the ID token of an OpenID Connect login (OpenID Connect Core section 3.1.3.7)."""

from __future__ import annotations

from http import HTTPStatus

from inspector.findings.signatures.keyset import read_keys
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import brief
from inspector.session.login.exchange import LoginChannel, refusal
from inspector.session.login.metadata import Endpoints, checked_url
from inspector.session.login.state import Step
from inspector.wire.receiver import jwt
from inspector.wire.receiver.checks import CheckResult

_SUBJECT = 200
"""The largest length of the subject that is shown."""


async def verify(channel: LoginChannel, endpoints: Endpoints, id_token: str, client_id: str, nonce: str) -> str:
    """Verify an ID token with the keys of the server, and return its subject; raises `FaultError`.

    `nonce` is the nonce that was sent, `""` for flows without one.
    """
    token = jwt.read(id_token)
    problem = token if isinstance(token, str) else await _problem(channel, endpoints, token, client_id, nonce)
    if isinstance(token, str) or problem:
        channel.note(Step.KEYS, "the ID token is not valid", endpoints.keys_url, {}, id_token_problem=problem)
        raise _invalid(problem)
    return str(token.claims["sub"])[:_SUBJECT]


async def _problem(channel: LoginChannel, endpoints: Endpoints, token: jwt.Jwt, client_id: str, nonce: str) -> str:
    """Return why an ID token is not valid, `""` if it is; raises `FaultError` if there are no keys."""
    fetch = await channel.get(Step.KEYS, checked_url(endpoints.keys_url, "the jwks_uri of the discovery document"))
    if fetch.status != HTTPStatus.OK or fetch.answer is None:
        raise refusal(fetch, "the keys for the ID token")
    keys = read_keys(dict(fetch.answer))
    if not keys.keys:
        return f"the server has no key to verify it; {' '.join(keys.notes)}".rstrip("; .")
    for name, result in (
        ("signature", jwt.check_signature(token, keys)),
        ("issuer", jwt.check_claim(token, "iss", endpoints.issuer)),
        ("audience", jwt.check_claim(token, "aud", client_id)),
        ("nonce", jwt.check_claim(token, "nonce", nonce)),
        ("dates", _dates(token, channel.clock())),
    ):
        if result.good is False:
            return f"{name}: {result.text}"
    party = token.claims.get("azp")
    if party not in (None, client_id):
        return f"azp is {brief(party)}, expected {brief(client_id)}"
    subject = token.claims.get("sub")
    return "" if isinstance(subject, str) and subject else "it has no sub"


def _dates(token: jwt.Jwt, now: float) -> CheckResult:
    if "exp" not in token.claims:
        return CheckResult(False, "no exp, which an ID token requires")
    return jwt.check_dates(token, now)


def _invalid(why: str) -> FaultError:
    seen = f"The ID token is not valid: {why}."
    hint = "Compare the issuer, the client id and the clocks of both machines; the access token is not used."
    return FaultError(Fault(Whose.AGENT, FaultCode.AUTH_FAILED, seen, hint))
