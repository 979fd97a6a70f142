"""Signatures of cards: what is wrong with one, and whether it holds."""

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
from signed_cards import AS_SERVED, CARD, EC, b64, flaws, public, recording, sign, signed, verdict, with_header

from inspector.findings.signatures.canonical import FORMS, payloads
from inspector.findings.signatures.keyset import read_keys
from inspector.findings.signatures.verify import Flaw, Outcome, problems_of, protected_header, verify
from inspector.protocol.model import Unreadable

# Recorded cards


@pytest.mark.parametrize(
    ("name", "version", "form", "unsigned"),
    [
        ("10", "1.0", AS_SERVED, ()),
        ("10c", "1.0", "the members of 1.0 alone, without default values", ("/url", "/securitySchemes/key/in")),
        ("03", "0.3", "the card as the Python SDK 0.3 writes it", ("/securitySchemes/mtls",)),
    ],
)
def test_a_recorded_card_is_valid_in_the_form_that_its_sdk_signs(
    name: str, version: str, form: str, unsigned: tuple[str, ...]
):
    card, keys = recording(name)
    one = verdict(card, keys, version)
    assert (one.outcome, one.form) == (Outcome.VALID, form)
    assert set(unsigned) <= set(one.uncovered)
    assert (one.algorithm, one.kid, one.index, one.pointer) == ("ES256", "key-1", 0, "/signatures/0")
    assert one.jku.endswith("/jwks.json")
    assert list(problems_of(card["signatures"][0])) == []


@pytest.mark.parametrize(("name", "version"), [("10", "1.0"), ("10c", "1.0"), ("03", "0.3")])
def test_a_recorded_card_with_one_byte_changed_is_wrong(name: str, version: str):
    card, keys = recording(name)
    assert verdict(card | {"version": "1.2.4"}, keys, version).outcome is Outcome.WRONG


def test_a_card_of_1_0_that_was_signed_for_readers_of_0_3_is_valid():
    card, keys = recording("03")
    hybrid = card | {"supportedInterfaces": []}
    one = verdict(hybrid | {"supportedInterfaces": CARD["supportedInterfaces"]}, keys, "1.0")
    assert one.form == "the card as the Python SDK 0.3 writes it"
    assert "/supportedInterfaces" in one.uncovered


# What would prove nothing


def test_a_signature_of_none_is_refused():
    for spelled in ("none", "None", "NONE"):
        entry = {"protected": b64({"alg": spelled, "kid": "ours", "typ": "JOSE"}), "signature": ""}
        found = verdict(CARD | {"signatures": [entry]}, public(EC))
        assert found.outcome is Outcome.REFUSED
        assert "anybody" in found.reason


@pytest.mark.parametrize("alg", ["HS256", "HS384", "HS512"])
def test_a_shared_secret_made_of_the_public_key_is_refused(alg: str):
    protected, payload = b64({"alg": alg, "kid": "ours"}), b64(rfc8785.dumps(CARD))
    mac = hmac.digest(EC.as_pem(private=False), f"{protected}.{payload}".encode(), alg.replace("HS", "sha"))
    found = verdict(CARD | {"signatures": [{"protected": protected, "signature": b64(mac)}]}, public(EC))
    assert found.outcome is Outcome.REFUSED
    assert "forge" in found.reason


def test_a_shared_secret_in_the_key_set_is_not_used():
    secret = OctKey.generate_key(256, {"kid": "s"})
    found = verdict(signed(CARD, secret, "HS256"), read_keys({"keys": [secret.as_dict(private=True)]}))
    assert found.outcome is Outcome.REFUSED


@pytest.mark.parametrize(
    ("members", "outcome"),
    [
        ({"crit": ["exp"], "exp": 1}, Outcome.REFUSED),
        ({"crit": ["b64"], "b64": True}, Outcome.REFUSED),
        ({"crit": []}, Outcome.REFUSED),
        ({"crit": "b64"}, Outcome.REFUSED),
        ({"b64": False}, Outcome.REFUSED),
        ({"crit": ["b64"], "b64": False}, Outcome.REFUSED),
        ({"alg": "RS1"}, Outcome.REFUSED),
        ({"alg": None}, Outcome.UNUSABLE),
        ({"alg": ["ES256"]}, Outcome.UNUSABLE),
        ({"alg": ""}, Outcome.UNUSABLE),
    ],
)
def test_a_header_that_asks_for_more_than_we_know_is_refused(members: dict[str, Any], outcome: Outcome):
    assert verdict(CARD | {"signatures": [with_header(**members)]}, public(EC)).outcome is outcome


def test_an_unencoded_payload_is_refused_although_its_signature_fits():
    protected = b64({"alg": "ES256", "kid": "ours", "b64": False})
    signature = JWSRegistry.algorithms["ES256"].sign(protected.encode() + b"." + rfc8785.dumps(CARD), EC)
    entry = {"protected": protected, "signature": b64(signature)}
    assert verdict(CARD | {"signatures": [entry]}, public(EC)).outcome is Outcome.REFUSED


def test_a_member_in_both_headers_voids_the_signature():
    card = signed(CARD)
    card["signatures"][0]["header"] = {"note": 1, "alg": "ES256"}
    found = verdict(card, public(EC))
    assert (found.outcome, found.pointer) == (Outcome.UNUSABLE, "/signatures/0/header/alg")


# Problems without any key


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (None, [("", Flaw.ENTRY)]),
        ("a.b.c", [("", Flaw.ENTRY)]),
        ({}, [("/protected", Flaw.ENTRY), ("/signature", Flaw.ENTRY)]),
        (
            {"protected": "e30", "signature": ""},
            [
                ("/protected", Flaw.ALG_MISSING),
                ("/signature", Flaw.SIGNATURE),
                ("/protected", Flaw.KID),
                ("/protected", Flaw.TYP),
            ],
        ),
        (with_header(), []),
        (with_header(alg="absent"), [("/protected", Flaw.ALG_MISSING)]),
        (with_header(alg="none"), [("/protected", Flaw.ALG_REFUSED)]),
        (with_header(alg="HS256"), [("/protected", Flaw.ALG_REFUSED)]),
        (with_header(alg="XX"), [("/protected", Flaw.ALG_REFUSED)]),
        (with_header(kid="absent"), [("/protected", Flaw.KID)]),
        (with_header(kid=7), [("/protected", Flaw.KID)]),
        (with_header(typ="JWT"), [("/protected", Flaw.TYP)]),
        (with_header(typ="absent"), [("/protected", Flaw.TYP)]),
        (with_header(crit=["x"]), [("/protected", Flaw.CRIT)]),
        (with_header(jku="https://x/keys"), []),
        (with_header(jku="http://localhost:8000/keys"), []),
        (with_header(jku="http://[::1]/keys"), []),
        (with_header(jku="http://x/keys"), [("/protected", Flaw.JKU)]),
        (with_header(jku="https://"), [("/protected", Flaw.JKU)]),
        (with_header(jku="https://[x/keys"), [("/protected", Flaw.JKU)]),
        (with_header(jku=None), [("/protected", Flaw.JKU)]),
        (with_header() | {"header": {"note": 1}}, []),
        (with_header() | {"header": []}, [("/header", Flaw.ENTRY)]),
        (with_header() | {"header": {"crit": ["x"]}}, [("/header/crit", Flaw.HEADER)]),
        (with_header() | {"header": {"typ": "JOSE"}}, [("/header/typ", Flaw.HEADER)]),
        (with_header(**{"a/b": 1}) | {"header": {"a/b": 1}}, [("/header/a~1b", Flaw.HEADER)]),
        (with_header() | {"signature": ""}, [("/signature", Flaw.SIGNATURE)]),
        (with_header() | {"signature": 5}, [("/signature", Flaw.ENTRY)]),
        (with_header() | {"signature": "+/"}, [("/signature", Flaw.SIGNATURE)]),
        (with_header() | {"signature": b64(b"x" * 63)}, [("/signature", Flaw.SIGNATURE)]),
        (with_header(alg="RS256") | {"signature": b64(b"x" * 256)}, []),
        (with_header() | {"payload": "e30"}, [("/payload", Flaw.PAYLOAD)]),
    ],
)
def test_a_problem_is_named_with_its_place(entry: Any, found: list[tuple[str, Flaw]]):
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
    found = verdict(CARD | {"signatures": [entry]}, public(EC))
    assert (found.outcome, found.pointer) == (Outcome.UNUSABLE, "/signatures/0/protected")


def test_a_signature_in_der_is_recognised():
    [problem] = problems_of(with_header() | {"signature": b64(b"\x30" + b"x" * 70)})
    assert "DER" in problem.sentence
    assert "71 bytes" in problem.sentence


def test_the_gravest_problem_decides():
    entry = {"protected": b64({"alg": "none"}), "signature": "", "payload": "", "header": {"alg": "x"}}
    assert verdict(CARD | {"signatures": [entry]}, public(EC)).outcome is Outcome.REFUSED


# Cards that misbehave


def test_of_three_signatures_each_has_its_own_verdict():
    entries = [sign(b"{}"), sign(rfc8785.dumps(CARD)), 5]
    found = verify(CARD | {"signatures": entries}, public(EC), "1.0")
    assert [one.outcome for one in found] == [Outcome.WRONG, Outcome.VALID, Outcome.UNUSABLE]
    assert [one.index for one in found] == [0, 1, 2]


@pytest.mark.parametrize("value", [2**60, float("inf"), float("nan"), "\ud800", {"\ud800": 1}])
def test_a_card_that_has_no_canonical_form_is_told(value: Any):
    card = CARD | {"capabilities": {"extensions": [{"uri": "u", "params": {"x": value}}]}}
    found = verdict(card | {"signatures": [sign(b"{}")]}, public(EC))
    assert found.outcome in (Outcome.UNUSABLE, Outcome.WRONG)
    assert "has a" in found.reason


def test_a_member_that_no_form_can_write_does_not_hide_the_forms_without_it():
    card = CARD | {
        "signatures": [sign(next(p.raw for p in payloads(CARD, "1.0") if p.form.name.startswith("the members")))]
    }
    found = verdict(card | {"x": 2**60}, public(EC))
    assert (found.outcome, found.uncovered) == (Outcome.VALID, ("/x",))


@pytest.mark.parametrize("card", [None, [], "x", {}, {"signatures": None}, {"signatures": {}}, {"signatures": []}])
def test_a_card_without_signatures_has_no_verdicts(card: Any):
    assert verify(card, public(EC), "1.0") == ()


def test_of_signatures_without_end_the_first_are_verified():
    found = verify(CARD | {"signatures": [sign(rfc8785.dumps(CARD))] * 40}, public(EC), "1.0")
    assert [one.outcome for one in found] == [Outcome.VALID] * 32 + [Outcome.REFUSED] * 8


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


@settings(max_examples=150, deadline=None)
@given(st.lists(entries, max_size=3), values, st.sampled_from(sorted(FORMS)), st.booleans())
def test_anything_at_all_gets_one_verdict_for_each_signature(
    listed: list[Any], member: Any, version: str, given_keys: bool
):
    card = CARD | {"signatures": listed, "skills": member, "securitySchemes": member, "x": member}
    found = verify(card, public(EC) if given_keys else None, version)
    assert [one.index for one in found] == list(range(len(listed)))
    assert all(one.outcome is not Outcome.VALID and one.reason for one in found)
