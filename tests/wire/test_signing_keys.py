"""The sources of keys for signatures: files and the origin of the card, and no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from joserfc.jwk import ECKey

from inspector.protocol.errors import FaultCode, FaultError, Whose
from inspector.wire.signing_keys import read_answer, read_file, refusal

KEY = ECKey.generate_key("P-256", {"kid": "ours"})
SET = json.dumps({"keys": [KEY.as_dict(private=False)]}).encode()
CARD = "https://agent.example/.well-known/agent-card.json"
LOCAL = "http://127.0.0.1:9000/.well-known/agent-card.json"


@pytest.mark.parametrize(
    "raw",
    [SET, json.dumps(KEY.as_dict(private=False)).encode(), KEY.as_pem(private=False), b"\n" + KEY.as_pem()],
    ids=["set", "key", "PEM", "private PEM"],
)
def test_a_file_may_hold_a_set_a_key_or_pem(tmp_path: Path, raw: bytes):
    path = tmp_path / "keys"
    path.write_bytes(raw)
    [key] = read_file(path).keys
    assert key.jwk["x"] == KEY.as_dict(private=False)["x"]


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b'{"keys": []}', b'{"keys": [{"kty": "oct", "k": "AAAA"}]}', b"\xff\xfe"]
)
def test_a_file_without_a_key_is_a_usage_error(tmp_path: Path, raw: bytes):
    path = tmp_path / "keys"
    path.write_bytes(raw)
    with pytest.raises(FaultError, match="contains no key to verify with") as caught:
        read_file(path)
    assert (caught.value.fault.whose, caught.value.fault.code) == (Whose.YOURS, FaultCode.USAGE)


def test_a_missing_file_is_reported(tmp_path: Path):
    with pytest.raises(FaultError, match=r"nowhere\.json could not be read: No such file"):
        read_file(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("jku", "card"),
    [
        ("https://agent.example/keys", CARD),
        ("https://AGENT.example:443/keys?x=1", CARD),
        ("http://127.0.0.1:9000/jwks.json", LOCAL),
        ("http://localhost/jwks.json", "http://localhost:80/card.json"),
    ],
)
def test_keys_are_fetched_from_the_cards_own_origin(jku: str, card: str):
    assert refusal(jku, card) == ""


@pytest.mark.parametrize(
    ("jku", "card", "why"),
    [
        ("https://agent.example/keys", "", "was read from a file"),
        ("https://evil.example/keys", CARD, "expected the origin of the card"),
        ("https://agent.example.evil.example/keys", CARD, "expected the origin of the card"),
        ("https://agent.example@evil.example/keys", CARD, "expected the origin of the card"),
        ("https://agent.example:8443/keys", CARD, "expected the origin of the card"),
        ("http://agent.example/keys", CARD, "expected the origin of the card"),
        ("http://127.0.0.1:9001/keys", LOCAL, "expected the origin of the card"),
        ("http://169.254.169.254/keys", CARD, "expected the origin of the card"),
        ("/keys", CARD, "expected the origin of the card"),
        ("", CARD, "expected the origin of the card"),
        ("https://[x/keys", CARD, "expected the origin of the card"),
        ("file:///etc/passwd", "file:///card.json", "expected the origin of the card"),
        ("http://agent.example/keys", "http://agent.example/card.json", "expected https"),
        ("ftp://agent.example/keys", "ftp://agent.example/card.json", "expected https"),
        ("http://192.168.0.9/keys", "http://192.168.0.9/card.json", "expected https"),
    ],
)
def test_keys_are_not_fetched_from_other_origins(jku: str, card: str, why: str):
    assert why in refusal(jku, card)


def test_a_response_contains_keys_or_the_reason_why_not():
    assert [key.kid for key in read_answer("https://x/k", 200, SET).keys] == ["ours"]
    assert read_answer("https://x/k", 404, SET).notes == ("The keys at https://x/k could not be fetched: status 404.",)
    [note] = read_answer("https://x/k", 200, b"<html>").notes
    assert note == "The keys at https://x/k: Not valid JSON: a web page or XML, not JSON."
