"""Keys for signatures: how a set is read, and which key is asked."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import dsa, ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import ECKey, JWKRegistry, OKPKey
from signed_cards import CARD, EC, OTHER, RSA, b64, public, signed, verdict

from inspector.findings.signatures.keyset import ALGORITHMS, KeySet, base64url, read_keys, read_pem
from inspector.findings.signatures.verify import Outcome


def test_another_key_of_the_same_name_makes_it_wrong():
    stranger = ECKey.generate_key("P-256", {"kid": "ours"})
    found = verdict(signed(CARD), public(stranger))
    assert found.outcome is Outcome.WRONG
    assert "key 'ours'" in found.reason


def test_of_keys_with_the_same_name_either_will_do():
    stranger = ECKey.generate_key("P-256", {"kid": "ours"})
    assert verdict(signed(CARD), public(stranger, EC)).outcome is Outcome.VALID


def test_without_a_kid_every_key_is_tried_and_the_verdict_says_so():
    found = verdict(signed(CARD, kid=None), public(OTHER, RSA, EC))
    assert found.outcome is Outcome.VALID
    assert "every one was tried" in found.reason


def test_a_kid_in_the_unprotected_header_finds_the_key():
    card = signed(CARD, kid=None)
    card["signatures"][0]["header"] = {"kid": "ours"}
    assert verdict(card, public(OTHER, EC)).kid == "ours"
    assert verdict(card, public(OTHER, EC)).outcome is Outcome.VALID
    assert verdict(card, public(OTHER)).outcome is Outcome.NO_KEY


def test_a_key_without_a_name_is_tried_where_none_has_the_one_that_is_asked_for():
    nameless = {name: held for name, held in EC.as_dict(private=False).items() if name != "kid"}
    assert verdict(signed(CARD), read_keys({"keys": [nameless]})).outcome is Outcome.VALID


def test_a_key_that_is_not_there_is_named():
    found = verdict(signed(CARD), public(OTHER))
    assert found.outcome is Outcome.NO_KEY
    assert found.reason == "The key set has no key 'ours', it has key 'other'."
    assert verdict(signed(CARD), None).reason == "No keys were given to verify it with."
    assert verdict(signed(CARD), KeySet()).outcome is Outcome.NO_KEY


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"alg": "ES384"}, "is for 'ES384' alone"),
        ({"use": "enc"}, "its use is 'enc'"),
        ({"key_ops": ["sign"]}, "key_ops"),
        ({"key_ops": "verify"}, "key_ops"),
    ],
)
def test_a_key_for_something_else_is_refused(changes: dict[str, Any], said: str):
    found = verdict(signed(CARD), read_keys({"keys": [EC.as_dict(private=False) | changes]}))
    assert found.outcome is Outcome.REFUSED
    assert said in found.reason


def test_a_key_of_another_type_or_curve_is_refused():
    found = verdict(signed(CARD, kid="rsa"), public(RSA))
    assert (found.outcome, found.pointer) == (Outcome.REFUSED, "/signatures/0/protected")
    assert found.reason == "ES256 takes a key of type EC P-256, key 'rsa' is of type RSA."
    assert verdict(signed(CARD), public(ECKey.generate_key("P-384", {"kid": "ours"}))).outcome is Outcome.REFUSED


@pytest.mark.parametrize("alg", sorted(ALGORITHMS))
def test_every_accepted_algorithm_verifies(alg: str):
    due = ALGORITHMS[alg]
    key = RSA if due.key_type == "RSA" else JWKRegistry.generate_key(due.key_type, due.curves[0], {"kid": "k"})
    card = signed(CARD, key, alg)
    assert verdict(card, public(key)).outcome is Outcome.VALID
    assert verdict(card | {"name": "x"}, public(key)).outcome is Outcome.WRONG


def test_a_set_is_read_around_what_cannot_verify():
    listed = [
        {"kty": "AKP", "kid": "new"},
        {"kty": "oct", "kid": "secret", "k": "AAAA"},
        "no key",
        {"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"},
        {"kty": "EC", "crv": "P-999", "x": "AAAA", "y": "AAAA"},
        {"kty": "EC", "crv": "P-256", "x": 5, "y": None},
        {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
        {"kty": ["EC"]},
        {"kty": "OKP", "crv": "Ed25519", "x": "!"},
        EC.as_dict(private=False),
    ]
    keys = read_keys({"keys": listed})
    assert [key.kid for key in keys.keys] == ["ours"]
    assert len(keys.notes) == 9
    assert "key 'new'" in keys.notes[0]
    assert "shared secret" in keys.notes[1]
    assert verdict(signed(CARD), keys).outcome is Outcome.VALID


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, {"keys": {}}, {"keys": None}, float("nan")])
def test_what_is_no_key_set_has_no_keys_and_says_so(value: Any):
    assert read_keys(value).keys == ()
    assert len(read_keys(value).notes) == 1


def test_a_single_key_is_a_set_of_one_and_a_private_part_is_noted():
    keys = read_keys(EC.as_dict(private=True))
    assert verdict(signed(CARD), keys).outcome is Outcome.VALID
    assert "private part" in keys.notes[0]


def test_of_a_set_without_end_the_first_keys_are_read():
    keys = read_keys({"keys": [EC.as_dict(private=False)] * 150})
    assert len(keys.keys) == 100
    assert "150" in keys.notes[-1]


@pytest.mark.parametrize("key", [EC, RSA, OKPKey.generate_key("Ed25519")], ids=["EC", "RSA", "OKP"])
def test_pem_is_read_as_the_key_that_it_holds(key: Any):
    keys = read_pem(key.as_pem(private=False))
    assert [one.jwk["kty"] for one in keys.keys] == [key.key_type]
    assert keys.notes == ()
    assert read_pem(key.as_pem(private=True)).keys == keys.keys


def pem(key: Any) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\x00",
        b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
        EC.as_pem(private=True, password="locked"),
        pem(dsa.generate_private_key(1024)),
        pem(ec.generate_private_key(ec.BrainpoolP256R1())),
    ],
    ids=["nothing", "binary", "not a key", "locked", "DSA", "another curve"],
)
def test_what_is_no_pem_has_no_keys_and_says_so(raw: bytes):
    assert read_pem(raw).keys == ()
    assert len(read_pem(raw).notes) == 1


@given(st.binary(max_size=40))
def test_base64url_is_read_back(raw: bytes):
    assert base64url(b64(raw)) == raw
