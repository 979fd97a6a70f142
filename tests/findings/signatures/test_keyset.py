"""Key sets: how they are read, and which key verifies a signature."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import dsa, ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import ECKey, JWKRegistry, OKPKey
from signed_cards import CARD, EC, OTHER, RSA, b64, public, result_of, signed

from inspector.findings.signatures.keyset import ALGORITHMS, KeySet, base64url, read_keys, read_pem
from inspector.findings.signatures.verify import SignatureOutcome


def test_another_key_with_the_same_id_does_not_verify():
    other = ECKey.generate_key("P-256", {"kid": "ours"})
    found = result_of(signed(CARD), public(other))
    assert found.outcome is SignatureOutcome.WRONG
    assert "key 'ours'" in found.reason


def test_all_keys_with_the_same_id_are_tried():
    other = ECKey.generate_key("P-256", {"kid": "ours"})
    assert result_of(signed(CARD), public(other, EC)).outcome is SignatureOutcome.VALID


def test_without_a_kid_all_keys_are_tried_and_the_result_reports_it():
    found = result_of(signed(CARD, kid=None), public(OTHER, RSA, EC))
    assert found.outcome is SignatureOutcome.VALID
    assert "all keys were tried" in found.reason


def test_a_kid_in_the_unprotected_header_finds_the_key():
    card = signed(CARD, kid=None)
    card["signatures"][0]["header"] = {"kid": "ours"}
    assert result_of(card, public(OTHER, EC)).kid == "ours"
    assert result_of(card, public(OTHER, EC)).outcome is SignatureOutcome.VALID
    assert result_of(card, public(OTHER)).outcome is SignatureOutcome.NO_KEY


def test_a_key_without_an_id_is_tried_if_no_key_has_the_kid():
    without_id = {name: value for name, value in EC.as_dict(private=False).items() if name != "kid"}
    assert result_of(signed(CARD), read_keys({"keys": [without_id]})).outcome is SignatureOutcome.VALID


def test_a_missing_key_is_named_in_the_reason():
    found = result_of(signed(CARD), public(OTHER))
    assert found.outcome is SignatureOutcome.NO_KEY
    assert found.reason == "The key set has no key 'ours'; it has key 'other'."
    assert result_of(signed(CARD), None).reason == "No keys were given to verify the signature."
    assert result_of(signed(CARD), KeySet()).outcome is SignatureOutcome.NO_KEY


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"alg": "ES384"}, "is only for 'ES384'"),
        ({"use": "enc"}, "its use is 'enc'"),
        ({"key_ops": ["sign"]}, "key_ops"),
        ({"key_ops": "verify"}, "key_ops"),
    ],
)
def test_a_key_for_another_use_is_refused(changes: dict[str, Any], reason: str):
    found = result_of(signed(CARD), read_keys({"keys": [EC.as_dict(private=False) | changes]}))
    assert found.outcome is SignatureOutcome.REFUSED
    assert reason in found.reason


def test_a_key_of_another_type_or_curve_is_refused():
    found = result_of(signed(CARD, kid="rsa"), public(RSA))
    assert (found.outcome, found.pointer) == (SignatureOutcome.REFUSED, "/signatures/0/protected")
    assert found.reason == "ES256 requires a key of type EC P-256, key 'rsa' has type RSA."
    assert (
        result_of(signed(CARD), public(ECKey.generate_key("P-384", {"kid": "ours"}))).outcome
        is SignatureOutcome.REFUSED
    )


@pytest.mark.parametrize("alg", sorted(ALGORITHMS))
def test_every_accepted_algorithm_verifies(alg: str):
    algorithm = ALGORITHMS[alg]
    is_rsa = algorithm.key_type == "RSA"
    key = RSA if is_rsa else JWKRegistry.generate_key(algorithm.key_type, algorithm.curves[0], {"kid": "k"})
    card = signed(CARD, key, alg)
    assert result_of(card, public(key)).outcome is SignatureOutcome.VALID
    assert result_of(card | {"name": "x"}, public(key)).outcome is SignatureOutcome.WRONG


def test_unusable_keys_of_a_set_are_skipped():
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
    assert result_of(signed(CARD), keys).outcome is SignatureOutcome.VALID


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, {"keys": {}}, {"keys": None}, float("nan")])
def test_other_values_have_no_keys_and_a_note(value: Any):
    assert read_keys(value).keys == ()
    assert len(read_keys(value).notes) == 1


def test_a_single_key_is_read_and_its_private_part_is_noted():
    keys = read_keys(EC.as_dict(private=True))
    assert result_of(signed(CARD), keys).outcome is SignatureOutcome.VALID
    assert "private part" in keys.notes[0]


def test_only_the_first_keys_of_a_large_set_are_read():
    keys = read_keys({"keys": [EC.as_dict(private=False)] * 150})
    assert len(keys.keys) == 100
    assert "150" in keys.notes[-1]


@pytest.mark.parametrize("key", [EC, RSA, OKPKey.generate_key("Ed25519")], ids=["EC", "RSA", "OKP"])
def test_pem_is_read_as_its_key(key: Any):
    keys = read_pem(key.as_pem(private=False))
    assert [read.jwk["kty"] for read in keys.keys] == [key.key_type]
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
def test_other_bytes_have_no_keys_and_a_note(raw: bytes):
    assert read_pem(raw).keys == ()
    assert len(read_pem(raw).notes) == 1


@given(st.binary(max_size=40))
def test_base64url_is_read_back(raw: bytes):
    assert base64url(b64(raw)) == raw
