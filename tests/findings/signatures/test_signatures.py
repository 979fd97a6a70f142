"""Signatures of cards: their problems and their verification."""

from __future__ import annotations

import hmac
import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc.jwk import OctKey
from joserfc.jws import JWSRegistry
from properties import examples
from signed_cards import AS_SERVED, CARD, EC, b64, flaws, public, recording, result_of, sign, signed, with_header

from inspector.findings.signatures.canonical import FORMS, payloads
from inspector.findings.signatures.keyset import read_keys
from inspector.findings.signatures.verify import SignatureFlaw, SignatureOutcome, problems_of, protected_header, verify
from inspector.protocol.model import Unreadable

# Recorded cards


@pytest.mark.parametrize(
    ("name", "version", "form", "unsigned"),
    [
        ("10", "1.0", AS_SERVED, ()),
        ("10c", "1.0", "only the members of 1.0, without default values", ("/url", "/securitySchemes/key/in")),
        ("03", "0.3", "the card as the Python SDK 0.3 writes it", ("/securitySchemes/mtls",)),
    ],
)
def test_a_recorded_card_is_valid_in_the_form_of_its_sdk(name: str, version: str, form: str, unsigned: tuple[str, ...]):
    card, keys = recording(name)
    result = result_of(card, keys, version)
    assert (result.outcome, result.form) == (SignatureOutcome.VALID, form)
    assert set(unsigned) <= set(result.uncovered)
    assert (result.algorithm, result.kid, result.index, result.pointer) == ("ES256", "key-1", 0, "/signatures/0")
    assert result.jku.endswith("/jwks.json")
    assert list(problems_of(card["signatures"][0])) == []


@pytest.mark.parametrize(("name", "version"), [("10", "1.0"), ("10c", "1.0"), ("03", "0.3")])
def test_a_recorded_card_with_one_byte_changed_is_wrong(name: str, version: str):
    card, keys = recording(name)
    assert result_of(card | {"version": "1.2.4"}, keys, version).outcome is SignatureOutcome.WRONG


def test_a_card_of_1_0_that_was_signed_in_a_form_of_0_3_is_valid():
    card, keys = recording("03")
    hybrid = card | {"supportedInterfaces": []}
    result = result_of(hybrid | {"supportedInterfaces": CARD["supportedInterfaces"]}, keys, "1.0")
    assert result.form == "the card as the Python SDK 0.3 writes it"
    assert "/supportedInterfaces" in result.uncovered


# Insecure algorithms and unknown extensions


def test_the_algorithm_none_is_refused():
    for spelled in ("none", "None", "NONE"):
        entry = {"protected": b64({"alg": spelled, "kid": "ours", "typ": "JOSE"}), "signature": ""}
        found = result_of(CARD | {"signatures": [entry]}, public(EC))
        assert found.outcome is SignatureOutcome.REFUSED
        assert "everyone can forge" in found.reason


@pytest.mark.parametrize("alg", ["HS256", "HS384", "HS512"])
def test_a_public_key_used_as_a_shared_secret_is_refused(alg: str):
    protected, payload = b64({"alg": alg, "kid": "ours"}), b64(rfc8785.dumps(CARD))
    mac = hmac.digest(EC.as_pem(private=False), f"{protected}.{payload}".encode(), alg.replace("HS", "sha"))
    found = result_of(CARD | {"signatures": [{"protected": protected, "signature": b64(mac)}]}, public(EC))
    assert found.outcome is SignatureOutcome.REFUSED
    assert "forge" in found.reason


def test_a_shared_secret_in_the_key_set_is_not_used():
    secret = OctKey.generate_key(256, {"kid": "s"})
    found = result_of(signed(CARD, secret, "HS256"), read_keys({"keys": [secret.as_dict(private=True)]}))
    assert found.outcome is SignatureOutcome.REFUSED


@pytest.mark.parametrize(
    ("members", "outcome"),
    [
        ({"crit": ["exp"], "exp": 1}, SignatureOutcome.REFUSED),
        ({"crit": ["b64"], "b64": True}, SignatureOutcome.REFUSED),
        ({"crit": []}, SignatureOutcome.REFUSED),
        ({"crit": "b64"}, SignatureOutcome.REFUSED),
        ({"b64": False}, SignatureOutcome.REFUSED),
        ({"crit": ["b64"], "b64": False}, SignatureOutcome.REFUSED),
        ({"alg": "RS1"}, SignatureOutcome.REFUSED),
        ({"alg": None}, SignatureOutcome.UNUSABLE),
        ({"alg": ["ES256"]}, SignatureOutcome.UNUSABLE),
        ({"alg": ""}, SignatureOutcome.UNUSABLE),
    ],
)
def test_an_unsupported_header_is_refused(members: dict[str, Any], outcome: SignatureOutcome):
    assert result_of(CARD | {"signatures": [with_header(**members)]}, public(EC)).outcome is outcome


def test_an_unencoded_payload_is_refused_although_its_signature_is_correct():
    protected = b64({"alg": "ES256", "kid": "ours", "b64": False})
    signature = JWSRegistry.algorithms["ES256"].sign(protected.encode() + b"." + rfc8785.dumps(CARD), EC)
    entry = {"protected": protected, "signature": b64(signature)}
    assert result_of(CARD | {"signatures": [entry]}, public(EC)).outcome is SignatureOutcome.REFUSED


def test_a_member_in_both_headers_makes_the_signature_unusable():
    card = signed(CARD)
    card["signatures"][0]["header"] = {"note": 1, "alg": "ES256"}
    found = result_of(card, public(EC))
    assert (found.outcome, found.pointer) == (SignatureOutcome.UNUSABLE, "/signatures/0/header/alg")


# Problems that need no key


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (None, [("", SignatureFlaw.ENTRY)]),
        ("a.b.c", [("", SignatureFlaw.ENTRY)]),
        ({}, [("/protected", SignatureFlaw.ENTRY), ("/signature", SignatureFlaw.ENTRY)]),
        (
            {"protected": "e30", "signature": ""},
            [
                ("/protected", SignatureFlaw.ALG_MISSING),
                ("/signature", SignatureFlaw.SIGNATURE),
                ("/protected", SignatureFlaw.KID),
                ("/protected", SignatureFlaw.TYP),
            ],
        ),
        (with_header(), []),
        (with_header(alg="absent"), [("/protected", SignatureFlaw.ALG_MISSING)]),
        (with_header(alg="none"), [("/protected", SignatureFlaw.ALG_REFUSED)]),
        (with_header(alg="HS256"), [("/protected", SignatureFlaw.ALG_REFUSED)]),
        (with_header(alg="XX"), [("/protected", SignatureFlaw.ALG_REFUSED)]),
        (with_header(kid="absent"), [("/protected", SignatureFlaw.KID)]),
        (with_header(kid=7), [("/protected", SignatureFlaw.KID)]),
        (with_header(typ="JWT"), [("/protected", SignatureFlaw.TYP)]),
        (with_header(typ="absent"), [("/protected", SignatureFlaw.TYP)]),
        (with_header(crit=["x"]), [("/protected", SignatureFlaw.CRIT)]),
        (with_header(jku="https://x/keys"), []),
        (with_header(jku="http://localhost:8000/keys"), []),
        (with_header(jku="http://[::1]/keys"), []),
        (with_header(jku="http://x/keys"), [("/protected", SignatureFlaw.JKU)]),
        (with_header(jku="https://"), [("/protected", SignatureFlaw.JKU)]),
        (with_header(jku="https://[x/keys"), [("/protected", SignatureFlaw.JKU)]),
        (with_header(jku=None), [("/protected", SignatureFlaw.JKU)]),
        (with_header() | {"header": {"note": 1}}, []),
        (with_header() | {"header": []}, [("/header", SignatureFlaw.ENTRY)]),
        (with_header() | {"header": {"crit": ["x"]}}, [("/header/crit", SignatureFlaw.HEADER)]),
        (with_header() | {"header": {"typ": "JOSE"}}, [("/header/typ", SignatureFlaw.HEADER)]),
        (with_header(**{"a/b": 1}) | {"header": {"a/b": 1}}, [("/header/a~1b", SignatureFlaw.HEADER)]),
        (with_header() | {"signature": ""}, [("/signature", SignatureFlaw.SIGNATURE)]),
        (with_header() | {"signature": 5}, [("/signature", SignatureFlaw.ENTRY)]),
        (with_header() | {"signature": "+/"}, [("/signature", SignatureFlaw.SIGNATURE)]),
        (with_header() | {"signature": b64(b"x" * 63)}, [("/signature", SignatureFlaw.SIGNATURE)]),
        (with_header(alg="RS256") | {"signature": b64(b"x" * 256)}, []),
        (with_header() | {"payload": "e30"}, [("/payload", SignatureFlaw.PAYLOAD)]),
    ],
)
def test_a_problem_has_its_flaw_and_pointer(entry: Any, found: list[tuple[str, SignatureFlaw]]):
    assert flaws(entry) == found
    assert all(problem.sentence.endswith(".") for problem in problems_of(entry))


@pytest.mark.parametrize(
    "protected",
    [
        None,
        5,
        "e30=",
        "e+/0",
        "a",
        "ä",
        "",
        b64(b"\xff"),
        b64(b"{"),
        b64([1]),
        b64(b"NaN"),
        b64(b"[" * 5000),
        b64(b"5"),
    ],
)
def test_a_header_that_cannot_be_read_makes_the_signature_unusable(protected: Any):
    entry = {"protected": protected, "signature": b64(b"x" * 64)}
    assert isinstance(protected_header(entry), Unreadable)
    found = result_of(CARD | {"signatures": [entry]}, public(EC))
    assert (found.outcome, found.pointer) == (SignatureOutcome.UNUSABLE, "/signatures/0/protected")


def test_a_signature_in_der_is_recognised():
    [problem] = problems_of(with_header() | {"signature": b64(b"\x30" + b"x" * 70)})
    assert "DER" in problem.sentence
    assert "71 bytes" in problem.sentence


def test_the_first_preventing_problem_determines_the_outcome():
    entry = {"protected": b64({"alg": "none"}), "signature": "", "payload": "", "header": {"alg": "x"}}
    assert result_of(CARD | {"signatures": [entry]}, public(EC)).outcome is SignatureOutcome.REFUSED


# Malformed cards


def test_each_signature_has_its_own_result():
    entries = [sign(b"{}"), sign(rfc8785.dumps(CARD)), 5]
    found = verify(CARD | {"signatures": entries}, public(EC), "1.0")
    assert [result.outcome for result in found] == [
        SignatureOutcome.WRONG,
        SignatureOutcome.VALID,
        SignatureOutcome.UNUSABLE,
    ]
    assert [result.index for result in found] == [0, 1, 2]


@pytest.mark.parametrize("value", [2**60, float("inf"), float("nan"), "\ud800", {"\ud800": 1}])
def test_a_card_without_a_canonical_form_is_reported(value: Any):
    card = CARD | {"capabilities": {"extensions": [{"uri": "u", "params": {"x": value}}]}}
    found = result_of(card | {"signatures": [sign(b"{}")]}, public(EC))
    assert found.outcome in (SignatureOutcome.UNUSABLE, SignatureOutcome.WRONG)
    assert "has a" in found.reason


def test_a_member_that_cannot_be_serialized_does_not_prevent_forms_without_it():
    card = CARD | {
        "signatures": [sign(next(p.raw for p in payloads(CARD, "1.0") if p.form.name.startswith("only the members")))]
    }
    found = result_of(card | {"x": 2**60}, public(EC))
    assert (found.outcome, found.uncovered) == (SignatureOutcome.VALID, ("/x",))


@pytest.mark.parametrize("card", [None, [], "x", {}, {"signatures": None}, {"signatures": {}}, {"signatures": []}])
def test_a_card_without_signatures_has_no_results(card: Any):
    assert verify(card, public(EC), "1.0") == ()


def test_only_the_first_of_many_signatures_are_verified():
    found = verify(CARD | {"signatures": [sign(rfc8785.dumps(CARD))] * 40}, public(EC), "1.0")
    assert [result.outcome for result in found] == [SignatureOutcome.VALID] * 32 + [SignatureOutcome.REFUSED] * 8


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
members = st.sampled_from(["alg", "kid", "typ", "jku", "crit", "b64", "x"])
headers = st.dictionaries(members, values | st.sampled_from(["ES256", "ours", "JOSE"]), max_size=5)
entries = values | st.fixed_dictionaries(
    {},
    optional={
        "protected": values | headers.map(lambda header: b64(json.dumps(header).encode("utf-8", "surrogatepass"))),
        "signature": values | st.binary(min_size=64, max_size=64).map(b64),
        "header": values | headers,
        "payload": values,
    },
)


@settings(max_examples=examples(150))
@given(st.lists(entries, max_size=3), values, st.sampled_from(sorted(FORMS)), st.booleans())
def test_arbitrary_values_get_one_result_for_each_signature(
    listed: list[Any], member: Any, version: str, given_keys: bool
):
    card = CARD | {"signatures": listed, "skills": member, "securitySchemes": member, "x": member}
    found = verify(card, public(EC) if given_keys else None, version)
    assert [result.index for result in found] == list(range(len(listed)))
    assert all(result.outcome is not SignatureOutcome.VALID and result.reason for result in found)
