"""The signatures, hashes and times of mandates (AP2) and passports, with real keys; forged ones are not valid."""

from __future__ import annotations

import base64
import datetime
import hmac
import json
from typing import Any

import pytest
import rfc8785
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import ECKey, OKPKey, RSAKey
from mandate_tokens import (
    AGENT,
    NOW,
    OTHER,
    WALLET,
    chain,
    closed,
    closed_claims,
    digest,
    encoded,
    opened,
    public,
    sign,
    unsigned,
)

from inspector.findings.extensions import MandateFlaw
from inspector.findings.mandates import Verified, verify_use
from inspector.findings.signatures.keyset import KeySet, read_keys
from inspector.protocol.extensions.known import PASSPORT, uses_in

OPEN = opened(exp=NOW + 60)
SIGNATURE, HASH, TIME, CHAIN = MandateFlaw
TRUSTED = read_keys({"keys": [WALLET.as_dict(private=False)]})


def verify(content: Any, key: str = "PaymentMandateSdJwt", *, at: float = NOW, keys: KeySet | None = None, **more: Any):
    data = {f"ap2.mandates.{key}": content, **{f"ap2.mandates.{name}": value for name, value in more.items()}}
    [use] = uses_in({"data": data})
    return verify_use(use, at, keys)


def of(results: list[Verified], what: str) -> tuple[str, str]:
    [found] = [(each.outcome.value, each.reason) for each in results if each.what == what]
    return found


def flaws_of(results: list[Verified]) -> set[MandateFlaw | None]:
    for each in results:
        assert (each.outcome.value == "not valid") is (each.flaw is not None), each
    return {each.flaw for each in results} - {None}


# Chains of SD-JWTs (AP2 0.2)


def test_a_chain_is_verified_with_the_key_that_the_token_before_names():
    results = verify(chain(OPEN, closed(OPEN)))
    assert of(results, "token 1 of 2, signature") == ("not verified", "the key 'wallet' is not known")
    assert of(results, "token 1 of 2, disclosures")[0] == "valid"
    assert of(results, "token 1 of 2, exp")[0] == "valid"
    assert of(results, "token 2 of 2, signature") == ("valid", "signed with the key of token 1 (cnf)")
    assert of(results, "token 2 of 2, sd_hash") == ("valid", "it is the hash of the token before it")
    assert flaws_of(results) == set()


@pytest.mark.parametrize(
    "key", [OKPKey.generate_key("Ed25519"), ECKey.generate_key("P-384"), ECKey.generate_key("P-521")]
)
def test_chains_with_other_keys_are_verified(key: Any):
    first = opened(public(key))
    alg = {"OKP": "EdDSA", "P-384": "ES384", "P-521": "ES512"}[public(key)["crv"] if key.key_type == "EC" else "OKP"]
    assert of(verify(chain(first, closed(first, key, alg))), "token 2 of 2, signature")[0] == "valid"


def test_a_chain_of_three_tokens_is_followed():
    inner = sign(closed_claims(OPEN, cnf={"jwk": public(OTHER)}), AGENT, typ="kb+sd-jwt+kb", kid=None)
    results = verify(chain(OPEN, inner, closed(inner, OTHER)))
    assert of(results, "token 3 of 3, signature") == ("valid", "signed with the key of token 2 (cnf)")
    assert flaws_of(results) == set()


def test_the_hash_of_the_jwt_alone_binds_a_token_too():
    bound = closed(OPEN, sd_hash=None, issuer_jwt_hash=digest(OPEN.partition("~")[0]))
    assert of(verify(chain(OPEN, bound)), "token 2 of 2, issuer_jwt_hash")[0] == "valid"


def test_a_trusted_key_verifies_the_first_token():
    good, forged = (
        chain(OPEN, closed(OPEN)),
        opened(key=ECKey.import_key({**OTHER.as_dict(private=True), "kid": "wallet"})),
    )
    assert of(verify(good, keys=TRUSTED), "token 1 of 2, signature") == (
        "valid",
        "signed with key 'wallet', which is trusted",
    )
    results = verify(chain(forged, closed(forged)), keys=TRUSTED)
    assert of(results, "token 1 of 2, signature")[0] == "not valid"
    assert flaws_of(results) == {SIGNATURE}


def test_a_trusted_key_without_an_id_is_tried_but_proves_no_error():
    unnamed = read_keys(public(WALLET))
    assert of(verify(chain(OPEN, closed(OPEN)), keys=unnamed), "token 1 of 2, signature")[0] == "valid"
    foreign = opened(key=OTHER)
    results = verify(chain(foreign, closed(foreign)), keys=unnamed)
    assert of(results, "token 1 of 2, signature") == ("not verified", "it names no key")
    assert flaws_of(results) == set()


def tampered(token: str, part: int) -> str:
    """Change one character in a part of the JWT: its header, payload or signature."""
    jwt, _, rest = token.partition("~")
    parts = jwt.split(".")
    middle = len(parts[part]) // 2
    parts[part] = f"{parts[part][:middle]}{'A' if parts[part][middle] != 'A' else 'B'}{parts[part][middle + 1 :]}"
    return f"{'.'.join(parts)}~{rest}"


CLAIMS = closed_claims(OPEN)


def confused(claims: Any) -> str:
    """Return a token whose signature is an HMAC with the public key of the agent as its secret."""
    signed = unsigned(claims, alg="HS256", typ="kb+sd-jwt").removesuffix(".")
    made = hmac.digest(AGENT.as_pem(private=False), signed.encode(), "sha256")
    return f"{signed}.{encoded(made)}"


@pytest.mark.parametrize(
    ("last", "flaws"),
    [
        (tampered(closed(OPEN), 2), {SIGNATURE}),
        (closed(OPEN, OTHER), {SIGNATURE}),
        (unsigned(CLAIMS, alg="none", typ="kb+sd-jwt"), {SIGNATURE}),
        (unsigned(CLAIMS, alg="NONE", typ="kb+sd-jwt"), {SIGNATURE}),
        (unsigned(CLAIMS, "AAAA", alg="ES256", typ="kb+sd-jwt"), {SIGNATURE}),
        (confused(CLAIMS), {SIGNATURE}),
        (sign(CLAIMS, RSAKey.generate_key(2048), "RS256", typ="kb+sd-jwt", kid=None), {SIGNATURE}),
        (sign(CLAIMS, AGENT, typ="kb+sd-jwt", crit=["exp"], exp=1, kid=None), {SIGNATURE}),
        (closed(OPEN, sd_hash=digest("x")), {HASH}),
        (closed(OPEN, sd_hash=5), {HASH}),
        (closed(OPEN, sd_hash=None), {CHAIN}),
        (closed(OPEN, issuer_jwt_hash=digest("x")), {CHAIN}),
        (closed(OPEN, typ="JWT"), {CHAIN}),
        (closed(OPEN, cnf={"jwk": public(OTHER)}), {CHAIN}),
        (closed(OPEN, typ="kb+sd-jwt+kb"), {CHAIN}),
        (f"{closed(OPEN)}{encoded(['salt', 'amount', 1])}~", {HASH}),
        (closed(OPEN, exp=NOW - 301), {TIME}),
        (closed(OPEN, exp="tomorrow"), {TIME}),
        (closed(OPEN, iat=NOW + 301), {TIME}),
        (closed(OPEN, nbf=NOW + 301), {TIME}),
        (closed(OPEN, exp=NOW - 299, iat=NOW + 299), set()),
        ("no token", {CHAIN}),
        ("a.b.c", {CHAIN}),
    ],
)
def test_what_is_not_valid_is_a_flaw(last: str, flaws: set[MandateFlaw]):
    assert flaws_of(verify(chain(OPEN, last))) == flaws


def test_a_changed_header_or_payload_is_not_valid():
    for part in (0, 1):
        assert flaws_of(verify(chain(OPEN, tampered(closed(OPEN), part)))), part


def test_a_changed_disclosure_is_not_valid():
    jwt, disclosure = OPEN.split("~")
    changed = f"{jwt}~{encoded(['salt', {'vct': 'mandate.payment.open.1', 'cnf': {'jwk': public(OTHER)}}])}"
    assert disclosure not in changed
    assert flaws_of(verify(chain(changed, closed(changed, OTHER)))) >= {HASH, CHAIN}


def test_a_token_before_that_names_no_key_cannot_continue():
    first = sign({"vct": "mandate.payment.open.1"}, WALLET)
    assert flaws_of(verify(chain(first, closed(first)))) == {CHAIN}


@pytest.mark.parametrize(
    ("jwk", "why"),
    [
        ({**public(AGENT), "crv": "P-999"}, "it cannot be read as an EC key"),
        ({**public(AGENT), "x": "AAAA"}, "it cannot be read as an EC key"),
        ({"kty": "oct", "k": "c2VjcmV0"}, "it is a shared secret, so everyone who reads it can sign"),
        ({"kty": "AKP", "pub": "x"}, "its type (kty) is 'AKP', which is not supported"),
        ({"kty": "EC"}, "crv is null, not a string"),
        ("key", "it is a string, not an object"),
        ([1], "it is an array, not an object"),
        ({}, "its type (kty) is null, which is not supported"),
    ],
)
def test_a_key_that_cannot_be_used_is_no_error(jwk: Any, why: str):
    first = opened(jwk)
    outcome, reason = of(verify(chain(first, closed(first))), "token 2 of 2, signature")
    assert outcome == "not verified"
    assert reason.startswith("the key of token 1 (cnf) cannot be used: ")
    assert why in reason


def test_an_unknown_algorithm_is_not_verified():
    token = unsigned(CLAIMS, "AAAA", alg="ML-DSA-44", typ="kb+sd-jwt")
    results = verify(chain(OPEN, token))
    assert of(results, "token 2 of 2, signature")[0] == "not verified"
    assert flaws_of(results) == set()


def test_an_unknown_hash_function_is_not_verified():
    first = f"{sign({'_sd_alg': 'blake3', 'cnf': {'jwk': public(AGENT)}}, WALLET)}~{encoded(['s', 'a', 1])}"
    results = verify(chain(first, closed(first)))
    assert of(results, "token 2 of 2, sd_hash") == ("not verified", "the hash function (_sd_alg) is not known")
    assert flaws_of(results) == set()


@pytest.mark.parametrize("alg", ["none", "HS256"])
def test_an_insecure_first_token_is_not_valid_without_any_key(alg: str):
    assert flaws_of(verify(unsigned({"vct": "mandate.payment.1"}, "" if alg == "none" else "AAAA", alg=alg))) == {
        SIGNATURE
    }


def test_a_key_in_the_header_proves_nothing_but_a_wrong_one_an_error():
    token = sign({"vct": "mandate.payment.1"}, OTHER, jwk=public(OTHER))
    outcome, reason = of(verify(token), "token, signature")
    assert (outcome, "does not prove who signed" in reason) == ("not verified", True)
    assert flaws_of(verify(sign({"vct": "mandate.payment.1"}, OTHER, jwk=public(AGENT)))) == {SIGNATURE}


def test_a_certificate_in_the_header_is_read():
    private = OTHER.private_key
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "shop")])
    today = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(private.public_key())
    builder = builder.serial_number(1).not_valid_before(today).not_valid_after(today + datetime.timedelta(days=1))
    der = builder.sign(private, hashes.SHA256()).public_bytes(Encoding.DER)
    for text in (base64.b64encode(der).decode(), base64.urlsafe_b64encode(der).decode().rstrip("=")):
        assert "the certificate in its header (x5c)" in of(verify(sign({}, OTHER, x5c=[text])), "token, signature")[1]
        assert flaws_of(verify(sign({}, AGENT, x5c=[text]))) == {SIGNATURE}
    for text in ("no base64!", base64.b64encode(b"no certificate").decode(), 5, "A" * 200_000):
        results = verify(sign({}, OTHER, x5c=[text]))
        assert of(results, "token, signature")[0] == "not verified"
        assert flaws_of(results) == set()


def test_huge_tokens_are_not_verified():
    huge = closed(OPEN, note="x" * 1_000_000)
    results = verify(chain(OPEN, huge))
    assert "at most 1,000,000 are verified" in of(results, "token 2 of 2, signature")[1]
    many = verify("~~".join([OPEN] * 1_000))
    assert len(many) <= 50
    assert len(verify("~~".join(["a"] * 10_000))) == 1


def test_many_disclosures_are_read_in_time():
    disclosures = [encoded([str(number), "name", number]) for number in range(20_000)]
    token = "~".join((sign({"_sd": [digest(each) for each in disclosures]}, WALLET), *disclosures, ""))
    assert flaws_of(verify(token)) == set()


# Checkouts and key binding


def test_the_checkout_is_bound_by_its_hash():
    checkout = sign({"id": "c"}, OTHER)
    good = sign({"vct": "mandate.checkout.1", "checkout_jwt": checkout, "checkout_hash": digest(checkout)}, WALLET)
    bad = sign({"vct": "mandate.checkout.1", "checkout_jwt": checkout, "checkout_hash": digest("x")}, WALLET)
    assert of(verify(good, "CheckoutMandateSdJwt"), "checkout_hash")[0] == "valid"
    assert flaws_of(verify(bad, "CheckoutMandateSdJwt")) == {HASH}


@pytest.mark.parametrize(("paid", "flaws"), [("c", set()), ("other", {HASH})])
def test_a_payment_beside_a_checkout_is_for_it(paid: str, flaws: set[MandateFlaw]):
    checkout = sign({"id": "c"}, OTHER)
    hashed = digest(checkout)
    bought = sign({"checkout_jwt": checkout, "checkout_hash": hashed}, WALLET)
    payment = sign({"transaction_id": hashed if paid == "c" else digest("x")}, WALLET)
    assert flaws_of(verify(payment, CheckoutMandateSdJwt=bought)) == flaws


def test_a_key_binding_is_verified_with_the_key_of_its_token():
    credential = sign({"cnf": {"jwk": public(AGENT)}}, WALLET)
    contents = {"payment_mandate_id": "p", "amount": 28.4}
    hashed = digest(rfc8785.dumps(contents))

    def results(key: Any, bound: str, *signed: str) -> list[Verified]:
        binding = sign({"sd_hash": bound, "transaction_data": list(signed)}, key, typ="kb+jwt", kid=None)
        mandate = {"payment_mandate_contents": contents, "user_authorization": f"{credential}~{binding}"}
        return verify(mandate, "PaymentMandate")

    whole = digest(f"{credential}~")
    assert flaws_of(good := results(AGENT, whole, "other", hashed)) == set()
    assert of(good, "token, key binding, signature") == ("valid", "signed with the key of the token (cnf)")
    assert of(good, "token, key binding, transaction_data")[0] == "valid"
    assert flaws_of(results(OTHER, whole, hashed)) == {SIGNATURE}
    assert flaws_of(results(AGENT, digest("x"), hashed)) == {HASH}
    assert flaws_of(results(AGENT, whole, digest("x"))) == {HASH}


# Carts (AP2 0.1)

CART = {"id": "c", "cart_expiry": "2100-01-01T00:00:00Z", "total": 28.4}


@pytest.mark.parametrize(
    ("claims", "flaws"),
    [
        ({"cart_hash": digest(rfc8785.dumps(CART))}, set()),
        ({"cart_hash": digest(json.dumps(CART, sort_keys=True))}, set()),
        ({"cart_hash": digest("x")}, {HASH}),
        ({"cart_hash": 5}, {HASH}),
        ({}, {HASH}),
        ({"cart_hash": digest(rfc8785.dumps(CART)), "exp": NOW - 1000}, {TIME}),
    ],
)
def test_the_signature_of_a_cart_is_for_its_contents(claims: Any, flaws: set[MandateFlaw]):
    mandate = {"contents": CART, "merchant_authorization": sign(claims, OTHER, kid="shop")}
    assert flaws_of(verify(mandate, "CartMandate")) == flaws


@pytest.mark.parametrize("token", ["sig_merchant", "a.b.c", "****"])
def test_other_signatures_of_a_cart(token: str):
    results = verify({"contents": CART, "merchant_authorization": token}, "CartMandate")
    assert of(results, "merchant signature")[0] == ("not verified" if token == "****" else "not valid")


def test_an_expired_cart_or_intent_is_reported():
    assert flaws_of(verify({"contents": CART | {"cart_expiry": "2001-01-01T00:00:00Z"}}, "CartMandate")) == {TIME}
    assert flaws_of(verify({"intent_expiry": "2001-01-01"}, "IntentMandate")) == {TIME}
    assert verify({"intent_expiry": "soon"}, "IntentMandate") == []


# Passports


def passport(signature: Any, state: Any = None, keys: KeySet | None = None) -> tuple[str, str, MandateFlaw | None]:
    value = {"clientId": "c", "state": state or {"currency": "GBP"}, "signature": signature}
    [use] = uses_in({"message": {"metadata": {PASSPORT: value}}})
    [found] = verify_use(use, NOW, keys)
    return found.outcome.value, found.reason, found.flaw


def detached(state: Any, key: Any = WALLET) -> str:
    signed = sign(state, key) if isinstance(state, bytes) else sign(rfc8785.dumps(state), key)
    header, _, signature = signed.split(".")
    return f"{header}..{signature}"


def test_the_signature_of_a_passport_is_verified_if_it_is_a_jws():
    state = {"currency": "GBP"}
    for signature in (detached(state), sign(rfc8785.dumps(state), WALLET)):
        assert passport(signature, keys=TRUSTED)[0] == "valid"
    assert passport(detached(state))[:2] == ("not verified", "the key 'wallet' is not known")
    outcome, reason, flaw = passport(detached({"currency": "EUR"}), keys=TRUSTED)
    assert (outcome, flaw) == ("not verified", None)
    assert "tried for the state in canonical JSON" in reason
    assert passport("MOCK-SIG-1")[:2] == (
        "not verified",
        "it is not a JWS, and the specification of Secure Passport defines no other format",
    )
    assert passport(unsigned({}, alg="none"))[2] == SIGNATURE


def test_a_passport_without_a_signature_has_no_results():
    [use] = uses_in({"message": {"metadata": {PASSPORT: {"clientId": "c", "state": {}}}}})
    assert verify_use(use, NOW, None) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=5),
    max_leaves=20,
)
CLAIM_NAMES = st.sampled_from(
    ["cnf", "delegate_payload", "_sd", "_sd_alg", "exp", "iat", "sd_hash", "checkout_jwt", "vct"]
)


@given(st.dictionaries(CLAIM_NAMES, JSON), st.lists(JSON, max_size=3), JSON)
def test_any_claims_have_results(claims: Any, disclosed: Any, value: Any):
    try:
        token = "~".join((unsigned(claims, "AAAA", alg="ES256"), *(encoded(each) for each in disclosed), ""))
    except UnicodeEncodeError:
        return
    for content in (token, f"{token}~{token}", f"{token}{unsigned(claims, 'AAAA', alg='ES256')}", value):
        for key in ("PaymentMandateSdJwt", "CartMandate", "PaymentMandate"):
            verify(content, key)
            verify({"contents": value, "merchant_authorization": content, "user_authorization": content}, key)


def test_lone_surrogates_are_no_crash():
    for content in (
        "\ud800",
        "a.b.\ud800~x~",
        {"contents": {"a": "\ud800"}, "merchant_authorization": sign({}, WALLET)},
    ):
        verify(content, "CartMandate")
