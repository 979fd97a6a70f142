"""The URLs at which a card is looked for, and how the responses are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.capture.private_files import CaptureError
from inspector.capture.store import Capture
from inspector.protocol.errors import FaultCode, FaultError, Whose
from inspector.text.reference import local_path
from inspector.wire.discovery import FoundCard, InvalidCard, candidates, not_found, read_answer, read_bytes, read_file
from inspector.wire.private_address import nearer_address, private_address

CARD: dict[str, Any] = {
    "name": "Agent",
    "description": "An agent",
    "supportedInterfaces": [{"url": "http://x/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    "version": "1",
    "capabilities": {},
    "defaultInputModes": [],
    "defaultOutputModes": [],
    "skills": [],
}
WELL_KNOWN = ["/.well-known/agent-card.json", "/.well-known/agent.json"]


# References


@pytest.mark.parametrize(
    ("reference", "urls"),
    [
        ("example.com", [f"https://example.com{path}" for path in (*WELL_KNOWN, "/")]),
        ("http://h:1/", [f"http://h:1{path}" for path in (*WELL_KNOWN, "/")]),
        ("[::1]:9000", [f"http://[::1]:9000{path}" for path in (*WELL_KNOWN, "/")]),
        (
            "https://h/a/b/",
            [f"https://h{path}" for path in (*(f"/a/b{known}" for known in WELL_KNOWN), *WELL_KNOWN, "/a/b/")],
        ),
        (
            "https://h/a?x=1#y",
            [f"https://h{path}?x=1" for path in (f"/a{WELL_KNOWN[0]}", f"/a{WELL_KNOWN[1]}", *WELL_KNOWN, "/a")],
        ),
        ("https://h/.well-known/agent.json", ["https://h/.well-known/agent.json"]),
        ("https://h/.well-known/other", ["https://h/.well-known/other"]),
        ("https://h/cards/mine.json?v=2", ["https://h/cards/mine.json?v=2"]),
        ("http://[", ["http://["]),
    ],
    ids=["host", "host and port", "IPv6", "path", "query", "well-known", "well-known, other", "card", "no url"],
)
def test_card_urls_are_tried_in_order(reference: str, urls: list[str]):
    assert candidates(reference) == urls


@pytest.mark.parametrize("reference", ["~no-such-user/card.json", "file://[", "./" + "x" * 5000])
def test_unreadable_path_is_an_error(reference: str):
    path = local_path(reference)
    assert path is not None
    with pytest.raises(FaultError) as raised:
        read_file(path)
    assert raised.value.fault.code == FaultCode.CARD_NOT_FOUND


def test_a_har_file_is_imported(tmp_path: Path):
    path = tmp_path / "traffic.har"
    path.write_text('{"log": {"entries": []}}', encoding="utf-8")
    with pytest.raises(FaultError) as raised:
        read_file(path)
    assert raised.value.fault.hint == f"This is a HAR file. Make a capture of it: a2a-inspect import {path}"
    with pytest.raises(CaptureError) as refused:
        Capture.open(path)
    assert refused.value.hint == raised.value.fault.hint
    capture = tmp_path / "capture.har"
    Capture.create(capture).close()
    Capture.open(capture).close()


# Answers


def test_a_card_is_found_with_its_original_bytes():
    raw = json.dumps(CARD, indent=2).encode()
    found = read_answer(200, "application/json", raw)
    assert isinstance(found, FoundCard)
    assert (found.card.name, found.dialect.version, found.raw) == ("Agent", "1.0", raw)


def test_a_card_of_0_3_is_found_too():
    found = read_bytes(b'{"name": "Old", "url": "http://x/", "protocolVersion": "0.3.0"}')
    assert isinstance(found, FoundCard)
    assert found.dialect.version == "0.3"
    assert found.card.supported_interfaces[0].url == "http://x/"


def test_incomplete_card_is_found():
    assert isinstance(read_bytes(b'{"name": "bare"}'), FoundCard)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"<!doctype html><title>hi", "a web page or XML, not JSON (text/html)"),
        (b"{", "ends within"),
        (b"[1, 2]", "JSON, but an array instead of an object"),
        (b"null", "JSON, but null instead of an object"),
        (b'"card"', "JSON, but a string instead of an object"),
        (b"{}", "a card that cannot be read: it is an empty object"),
        (b'{"detail": "Not Found"}', "JSON, but without the members of a card"),
        (b'{"supportedInterfaces": 5}', "a card that cannot be read: "),
        (b"[" * 100_000, "nested deeper"),
        (b'{"name": NaN}', "not JSON"),
        ("{}".encode("utf-16"), "UTF-16"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'{"name": "\xff"}', "not UTF-8"),
    ],
)
def test_reason_why_bytes_are_not_a_card(raw: bytes, said: str):
    outcome = read_bytes(raw, "text/html" if raw.startswith(b"<") else "application/json")
    assert not isinstance(outcome, FoundCard)
    assert said in str(outcome)
    assert len(str(outcome)) < 300


@pytest.mark.parametrize(("status", "said"), [(204, "204"), (301, "301"), (404, "404"), (500, "500")])
def test_error_status_is_the_reason_for_any_body(status: int, said: str):
    assert read_answer(status, "application/json", json.dumps(CARD).encode()) == said


@pytest.mark.parametrize("status", [401, 403])
def test_status_401_and_403_mention_credentials(status: int):
    assert "credentials" in str(read_answer(status, "", b""))


def test_an_invalid_card_is_not_any_other_document():
    invalid = read_bytes(b'{"url": 5}')
    assert isinstance(invalid, InvalidCard)
    assert invalid.why.startswith("AgentCard/supportedInterfaces/0/url: ")
    assert str(invalid) == f"a card that cannot be read: {invalid.why}"
    assert not isinstance(read_bytes(b"[]"), InvalidCard)


# Files


def test_a_card_is_read_from_a_file(tmp_path: Path):
    (tmp_path / "card.json").write_text(json.dumps(CARD), encoding="utf-8")
    assert read_file(tmp_path / "card.json").card.name == "Agent"


@pytest.mark.parametrize(
    ("content", "code"),
    [(None, FaultCode.CARD_NOT_FOUND), (b"", FaultCode.CARD_INVALID), (b"[]", FaultCode.CARD_INVALID)],
)
def test_file_without_a_card_is_a_usage_error(tmp_path: Path, content: bytes | None, code: FaultCode):
    path = tmp_path / "card.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FaultError) as raised:
        read_file(path)
    fault = raised.value.fault
    assert (fault.whose, fault.code) == (Whose.YOURS, code)
    assert str(path) in fault.seen


def test_folder_is_not_a_card(tmp_path: Path):
    with pytest.raises(FaultError) as raised:
        read_file(tmp_path)
    assert raised.value.fault.code == FaultCode.CARD_NOT_FOUND


# No card at all


@pytest.mark.parametrize(
    ("outcomes", "statuses", "whose", "code"),
    [
        (["404", "404"], {404}, Whose.YOURS, FaultCode.CARD_NOT_FOUND),
        (["404", "500"], {404, 500}, Whose.AGENT, FaultCode.CARD_NOT_FOUND),
        (["404", "401, credentials are required"], {404, 401}, Whose.YOURS, FaultCode.CREDENTIALS_MISSING),
        (["403, refused: credentials may be missing or insufficient"], {403}, Whose.YOURS, FaultCode.AUTH_FAILED),
        (["401", "403"], {401, 403}, Whose.YOURS, FaultCode.AUTH_FAILED),
        (["404", "a card that cannot be read: name"], {404, 200}, Whose.AGENT, FaultCode.CARD_INVALID),
        (["a web page or XML, not JSON"], {200}, Whose.YOURS, FaultCode.CARD_NOT_FOUND),
    ],
)
def test_missing_card_fault_has_its_code(outcomes: list[str], statuses: set[int], whose: Whose, code: FaultCode):
    attempts = [(f"http://h/{number}", outcome) for number, outcome in enumerate(outcomes)]
    fault = not_found("http://h", attempts, statuses, invalid=code is FaultCode.CARD_INVALID)
    assert (fault.whose, fault.code) == (whose, code)
    assert fault.hint
    for url, outcome in attempts:
        assert f"{url}: {outcome}" in fault.seen


def test_a_server_error_leads_to_the_log():
    assert "log" in not_found("http://h", [("http://h/card", "500")], {500}).hint
    assert "base URL" in not_found("http://h", [("http://h/card", "404")], {404}).hint


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "169.254.169.254", "100.100.100.200", "[fe80::1]", "[::ffff:10.0.0.1]"]
)
async def test_an_address_that_is_not_public_is_private_and_nearer(address: str):
    url, agent = f"http://{address}/card", "http://8.8.8.8/"
    assert await private_address(url, agent)
    assert await nearer_address(url, agent)
    assert not await private_address("http://9.9.9.9/", agent)
