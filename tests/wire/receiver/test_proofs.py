"""The authentication of a delivery as registered: Authorization, API key, HMAC and JWT."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from base64 import b64encode, urlsafe_b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt as jose
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey
from receiving import Answer, opened

from inspector.findings.signatures.keyset import read_keys
from inspector.wire.receiver.checks import Check
from inspector.wire.receiver.delivery import BodyOutcome, BodyRead, RequestHead
from inspector.wire.receiver.jwt import LEEWAY, read
from inspector.wire.receiver.listen_address import ListenAddress
from inspector.wire.receiver.registration import Proof, Registration, WebhookAuth
from inspector.wire.receiver.verdict import PushBody, PushRequest, check_body, check_head

DATA = Path(__file__).parents[1] / "data"
PLACE = ListenAddress.at("127.0.0.1", 9000)
BODY = b'{"task":{"id":"t"}}'
TOKEN, SECRET = "token-of-the-hook", "secret-of-the-hook"
NOW = 1_800_000_000.0
KEY = ECKey.generate_key("P-256", {"kid": "k1", "alg": "ES256"})
OTHER = ECKey.generate_key("P-256", {"kid": "k2"})
KEYS = read_keys(KeySet([KEY, OTHER]).as_dict(private=False))
CLAIMS = {"iss": "agent", "aud": "me", "iat": NOW, "exp": NOW + 60, "jti": "1"}


def registration_for(auth: WebhookAuth) -> Registration:
    return Registration(1, "/push/p", TOKEN, "http://127.0.0.1:9000/push/p", 0.0, auth)


def judged(request: PushRequest, body: bytes) -> tuple[tuple[Check, ...], tuple[int, str]]:
    """Run the checks of the head and, unless it is refused, those of the body."""
    head = check_head(request)
    if head.refused:
        return head.checks, head[2:]
    whole = check_body(PushBody(request, BodyRead(body, BodyOutcome.WHOLE)))
    return head.checks + whole.checks, whole[2:]


def results(auth: WebhookAuth, *headers: tuple[str, str], body: bytes = BODY, used: set[str] | None = None):
    """Judge a delivery that is good but for its proof: the checks by name, and the status with its reason."""
    head = RequestHead("POST", "/push/p", (("Host", "127.0.0.1:9000"), ("Content-Type", "application/json"), *headers))
    registration = registration_for(auth)
    checks, refusal = judged(PushRequest(head, registration, PLACE, used=used or set(), clock=lambda: NOW), body)
    assert not any(secret in check.text for check in checks for secret in (TOKEN, SECRET))
    return {check.name: check for check in checks}, refusal


def bearer(claims: dict[str, Any], key: Any = KEY, alg: str = "ES256", **header: Any) -> tuple[str, str]:
    made = jose.encode({"alg": alg, "kid": key.kid, **header}, claims, key, algorithms=[alg])
    return "Authorization", f"Bearer {made}"


# Authorization and API keys


@pytest.mark.parametrize(
    ("auth", "header"),
    [
        (WebhookAuth(), ("Authorization", f"Bearer {TOKEN}")),
        (WebhookAuth(credentials=SECRET), ("Authorization", f"Bearer {SECRET}")),
        (WebhookAuth(scheme="Basic", credentials=SECRET), ("Authorization", f"Basic {SECRET}")),
        (WebhookAuth.of("api-key", SECRET), ("X-API-Key", SECRET)),
        (WebhookAuth.of("api-key", SECRET), ("Authorization", f"ApiKey {SECRET}")),
    ],
)
def test_the_registered_proof_is_sufficient(auth: WebhookAuth, header: tuple[str, str]):
    checks, (status, _) = results(auth, header)
    assert (status, checks["authorization"].good) == (204, True)


@pytest.mark.parametrize(
    ("auth", "header"),
    [
        (WebhookAuth(credentials=SECRET), ("Authorization", f"Bearer {TOKEN}")),
        (WebhookAuth(scheme="Basic", credentials=SECRET), ("Authorization", f"Bearer {SECRET}")),
        (WebhookAuth.of("api-key", SECRET), ("X-API-Key", "another")),
        (WebhookAuth.of("api-key", SECRET), ("X-API-Key", "")),
        (WebhookAuth.of("api-key", SECRET), ("X-Other-Key", SECRET)),
        (WebhookAuth(Proof.TOKEN), ("Authorization", f"Bearer {TOKEN}")),
        (WebhookAuth(), ("X-API-Key", TOKEN)),
    ],
)
def test_another_proof_is_rejected(auth: WebhookAuth, header: tuple[str, str]):
    assert results(auth, header)[1][0] == 401


def test_repeated_credentials_have_to_be_equal():
    pair = ("Authorization", f"Bearer {TOKEN}")
    assert results(WebhookAuth(), pair, pair)[1][0] == 204
    assert results(WebhookAuth(), pair, ("Authorization", "Bearer x"))[1][0] == 401
    assert results(WebhookAuth.of("api-key", SECRET), ("X-API-Key", SECRET), ("X-API-Key", "x"))[1][0] == 401


def test_the_token_alone_is_sufficient_and_missing_credentials_are_reported():
    checks, (status, _) = results(WebhookAuth(scheme="Basic", credentials=SECRET), ("X-A2A-Notification-Token", TOKEN))
    assert (status, checks["authorization"]) == (204, Check("authorization", None, "expected Basic, received none"))


@pytest.mark.parametrize(
    ("auth", "header", "words"),
    [
        (WebhookAuth(scheme="Basic", credentials=SECRET), ("Authorization", f"Basic {SECRET}"), "Basic"),
        (WebhookAuth.of("api-key", SECRET), ("X-API-Key", SECRET), "ApiKey"),
        (WebhookAuth(Proof.JWT, keys=KEYS), bearer(CLAIMS), "Bearer JWT"),
    ],
)
def test_token_and_authorization_are_both_checked_if_both_are_required(
    auth: WebhookAuth, header: tuple[str, str], words: str
):
    auth = replace(auth, with_token=True)
    assert auth.words == f"token and {words}"
    token = ("X-A2A-Notification-Token", TOKEN)
    assert results(auth, header, token)[1][0] == 204
    for missing, name in ((header, "token"), (token, "authorization")):
        checks, (status, _) = results(auth, missing)
        assert (status, checks[name].good) == (401, False)
    assert results(auth, header, ("X-A2A-Notification-Token", "wrong"))[1][0] == 401


def test_a_registration_names_its_alternatives():
    words = [auth.words for auth in (WebhookAuth(), WebhookAuth.of("api-key", SECRET), WebhookAuth(Proof.TOKEN))]
    assert words == ["token or Bearer", "token or ApiKey", "token"]


def test_a_jwt_instead_of_credentials_is_rejected_with_a_hint():
    status, why = results(WebhookAuth(), bearer(CLAIMS))[1]
    assert (status, "register the webhook with a JWKS" in why) == (401, True)


# HMAC


def signatures() -> list[tuple[str, str]]:
    digest = hmac.new(SECRET.encode(), BODY, hashlib.sha256)
    return [
        ("X-Hub-Signature-256", f"sha256={digest.hexdigest()}"),
        ("X-A2A-Signature", digest.hexdigest().upper()),
        ("X-Signature", b64encode(digest.digest()).decode()),
        ("X-Webhook-Signature", f"v1={digest.hexdigest()}"),
        ("Authorization", f"HMAC-SHA256 {digest.hexdigest()}"),
    ]


@pytest.mark.parametrize("header", signatures(), ids=lambda header: header[0])
def test_the_hmac_of_the_body_is_accepted_in_all_known_headers(header: tuple[str, str]):
    checks, (status, _) = results(WebhookAuth.of("hmac", SECRET), header)
    assert (status, checks["signature"].good) == (204, True)
    assert header[0] in checks["signature"].text


@pytest.mark.parametrize("header", signatures(), ids=lambda header: header[0])
def test_the_hmac_of_another_body_is_rejected(header: tuple[str, str]):
    checks, (status, _) = results(WebhookAuth.of("hmac", SECRET), header, body=BODY + b" ")
    assert (status, checks["signature"].good) == (401, False)


def test_a_secret_that_is_sent_instead_of_a_signature_is_reported():
    checks, (status, _) = results(WebhookAuth.of("hmac", SECRET), ("Authorization", f"HMAC-SHA256 {SECRET}"))
    assert status == 401
    assert checks["signature"].text.startswith("Authorization contains the secret itself")


def test_a_correct_hmac_does_not_make_up_for_a_wrong_hmac():
    right = signatures()[0]
    assert results(WebhookAuth.of("hmac", SECRET), right, ("X-Signature", "0" * 64))[1][0] == 401


@pytest.mark.parametrize("headers", [[], [("X-A2A-Notification-Token", TOKEN)]])
def test_a_body_without_the_required_signature_is_rejected(headers: list[tuple[str, str]]):
    checks, (status, why) = results(WebhookAuth.of("hmac", SECRET), *headers)
    assert (status, checks["signature"].good) == (401, False)
    assert "X-Hub-Signature-256" in why


# JWT

ASKED = WebhookAuth(Proof.JWT, keys=KEYS, issuer="agent", audience="me")


def test_a_valid_jwt_passes_every_check():
    checks, (status, _) = results(ASKED, bearer(CLAIMS | {"request_body_sha256": hashlib.sha256(BODY).hexdigest()}))
    lines = ("authorization", "signature", "issuer", "audience", "dates", "replay", "body-hash")
    assert (status, [checks[name].good for name in lines]) == (204, [True] * 7)


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"iss": "other"}, "issuer"),
        ({"iss": None}, "issuer"),
        ({"iss": ["agent"]}, "issuer"),
        ({"aud": "other"}, "audience"),
        ({"aud": ["a", "b"]}, "audience"),
        ({"aud": None}, "audience"),
        ({"exp": NOW - LEEWAY - 1}, "dates"),
        ({"nbf": NOW + LEEWAY + 1}, "dates"),
        ({"iat": NOW + LEEWAY + 1}, "dates"),
        ({"exp": None, "iat": NOW - 301}, "dates"),
        ({"exp": None, "iat": None}, "dates"),
        ({"exp": "soon"}, "dates"),
        ({"exp": 10**400}, "dates"),
        ({"exp": True}, "dates"),
        ({"request_body_sha256": "0" * 64}, "body-hash"),
        ({"request_body_sha256": 5}, "body-hash"),
    ],
)
def test_a_jwt_with_a_wrong_claim_fails_the_check_of_that_claim(claims: dict[str, Any], name: str):
    changed = {key: value for key, value in (CLAIMS | claims).items() if value is not None}
    made = _signed(changed)
    checks, (status, _) = results(ASKED, ("Authorization", f"Bearer {made}"))
    assert (status, [check for check in checks if checks[check].good is False]) == (401, [name])


def _signed(claims: dict[str, Any], header: dict[str, Any] | None = None) -> str:
    """Sign claims that the library would not, because they are wrong."""
    from joserfc import jws

    return jws.serialize_compact({"alg": "ES256", "kid": "k1", **(header or {})}, json.dumps(claims), KEY)


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": ["x", "me"]},
        {"exp": NOW - LEEWAY + 1},
        {"nbf": NOW + LEEWAY - 1},
        {"exp": None, "iat": NOW - 299},
        {"jti": None},
    ],
)
def test_a_jwt_within_the_limits_is_accepted(claims: dict[str, Any]):
    changed = {key: value for key, value in (CLAIMS | claims).items() if value is not None}
    assert results(ASKED, bearer(changed))[1] == (204, "")


def test_claims_that_are_not_required_are_shown_and_not_checked():
    checks, (status, _) = results(WebhookAuth(Proof.JWT, keys=KEYS), bearer(CLAIMS))
    assert (status, checks["issuer"].good, checks["audience"].good) == (204, None, None)
    assert "'agent'" in checks["issuer"].text


def test_a_jwt_that_was_accepted_before_is_a_replay():
    for claims in (CLAIMS, {name: value for name, value in CLAIMS.items() if name != "jti"}):
        header = bearer(claims)
        known = read(header[1].removeprefix("Bearer "))
        assert not isinstance(known, str)
        checks, (status, _) = results(ASKED, header, used={known.identity})
        assert (status, checks["replay"].good) == (401, False)
        assert results(ASKED, bearer(claims | {"jti": "2"}), used={known.identity})[1][0] == 204


async def test_of_two_deliveries_with_the_same_jwt_at_the_same_time_one_is_accepted():
    async with opened() as running:
        running.registration = running.receiver.register(ASKED)
        header = ": ".join(bearer(CLAIMS | {"iat": time.time(), "exp": time.time() + 60}))
        connections = [await running.connect() for _ in range(2)]
        for _, writer in connections:
            writer.write(running.head(header, f"Content-Length: {len(BODY)}"))
        await asyncio.sleep(0.1)  # the receiver reads both heads
        for _, writer in connections:
            writer.write(BODY)
        answers = [await Answer.read(reader) for reader, _ in connections]
        assert sorted(answer.status for answer in answers) == [204, 401]
        for _, writer in connections:
            writer.close()


def test_a_jwt_signed_by_an_unknown_key_is_rejected():
    stranger = ECKey.generate_key("P-256", {"kid": "k1"})
    checks, (status, why) = results(ASKED, bearer(CLAIMS, stranger))
    assert (status, checks["signature"].good) == (401, False)
    assert "not valid with key 'k1'" in why


def test_shared_secrets_alg_none_and_unknown_extensions_are_rejected():
    shared = OctKey.import_key(b"x" * 32)
    confused = jose.encode({"alg": "HS256", "kid": "k1"}, CLAIMS, shared, algorithms=["HS256"])
    none = ".".join(
        (
            *(
                urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
                for value in ({"alg": "none"}, CLAIMS)
            ),
            "",
        )
    )
    for made, why in ((confused, "HS256"), (none, "none"), (_signed(CLAIMS, {"crit": ["b64"], "b64": True}), "crit")):
        checks, (status, _) = results(ASKED, ("Authorization", f"Bearer {made}"))
        assert (status, checks["signature"].good, why in checks["signature"].text) == (401, False, True)


@pytest.mark.parametrize(
    "value",
    ["", "Bearer", "Bearer x", "Bearer a.b", "Bearer ..", "Bearer a.b.c.d", "Basic dXNlcjpw", SECRET, "Bearer !.!.!"],
)
def test_an_invalid_jwt_is_rejected(value: str):
    checks, (status, _) = results(ASKED, ("Authorization", value))
    assert (status, checks["authorization"].good) == (401, False)


def test_the_recorded_delivery_of_0_1_is_checked_correctly():
    raw = (DATA / "push_0_1.http").read_bytes()
    head, _, body = raw.partition(b"\r\n\r\n")
    value = head.partition(b"Authorization: ")[2].partition(b"\r\n")[0].decode()
    keys = read_keys(json.loads((DATA / "jwks_0_1.json").read_bytes()))
    made = read(value.removeprefix("Bearer "))
    assert not isinstance(made, str)
    auth = WebhookAuth(Proof.JWT, keys=keys)
    sent = RequestHead("POST", "/push/p", (("Host", "127.0.0.1:9000"), ("Authorization", value)))
    request = PushRequest(sent, registration_for(auth), PLACE, clock=lambda: float(str(made.claims["iat"])) + 1)
    checks = {check.name: check.good for check in judged(request, body)[0]}
    assert (checks["signature"], checks["dates"], checks["body-hash"]) == (True, True, True)
    forged = {check.name: check.good for check in judged(request, body + b" ")[0]}
    assert forged == {**checks, "body-hash": False}


def test_rsa_keys_verify_too():
    key = RSAKey.generate_key(2048, {"kid": "r"})
    auth = WebhookAuth(Proof.JWT, keys=read_keys(KeySet([key]).as_dict(private=False)))
    assert results(auth, bearer(CLAIMS, key, "RS256"))[1] == (204, "")
    assert results(auth, bearer(CLAIMS, key, "PS256"))[1] == (204, "")
