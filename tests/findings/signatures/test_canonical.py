"""The canonical forms of a card that a signature may cover."""

from __future__ import annotations

import json
from typing import Any

import pytest
import rfc8785
from signed_cards import CARD, EC, OTHER, public, result_of, sign, signed

from inspector.findings.signatures.canonical import FORMS, payloads
from inspector.findings.signatures.verify import SignatureOutcome, verify
from inspector.protocol.dialects.traits import VERSIONS


def forms(card: dict[str, Any], version: str) -> dict[str, Any]:
    return {payload.form.name: json.loads(payload.raw) for payload in payloads(card, version) if not payload.why}


def test_default_values_are_omitted_unless_required_or_with_presence():
    card = CARD | {"documentationUrl": "", "securityRequirements": [], "x": "", "provider": {"organization": ""}}
    card["supportedInterfaces"] = [{"url": "", "tenant": "", "protocolBinding": "", "protocolVersion": ""}]
    remaining = forms(card, "1.0")["the card without default values"]
    expected = {name: value for name, value in card.items() if name != "securityRequirements"}
    assert remaining == expected | {"supportedInterfaces": [{"url": "", "protocolBinding": "", "protocolVersion": ""}]}


def test_members_of_other_versions_are_omitted_at_every_depth():
    scheme = {"httpAuthSecurityScheme": {"scheme": "bearer", "type": "x"}, "type": "http"}
    extension = {"uri": "u", "params": {"type": "kept"}, "x": 1}
    card = CARD | {"url": "u", "securitySchemes": {"a": scheme}, "capabilities": {"extensions": [extension]}}
    remaining = forms(card, "1.0")["only the members of 1.0"]
    assert "url" not in remaining
    assert remaining["securitySchemes"] == {"a": {"httpAuthSecurityScheme": {"scheme": "bearer"}}}
    assert remaining["capabilities"] == {"extensions": [{"uri": "u", "params": {"type": "kept"}}]}


def test_the_sdk_1_3_omits_empty_values_except_false_with_presence():
    extension = {"uri": "u", "required": False, "params": {"n": 1, "b": False, "e": "", "z": None, "l": [{}]}}
    card = CARD | {"capabilities": {"streaming": False, "extensions": [extension]}, "iconUrl": ""}
    remaining = forms(card, "1.0")["the card as the Python SDK 1.3 writes it"]
    assert remaining == {
        "name": CARD["name"],
        "supportedInterfaces": CARD["supportedInterfaces"],
        "version": "1",
        "capabilities": {"streaming": False, "extensions": [{"uri": "u", "params": {"n": 1, "b": False}}]},
        "defaultOutputModes": ["text/plain"],
    }


def test_the_sdk_0_3_omits_the_defaults_of_its_models():
    card = {
        "name": "Ü",
        "protocolVersion": "0.3.0",
        "preferredTransport": "JSONRPC",
        "additionalInterfaces": [{"url": "u", "transport": "GRPC", "x": 1}],
        "capabilities": {"streaming": False},
        "securitySchemes": {"a": {"type": "http", "scheme": "bearer"}, "m": {"type": "mutualTLS"}},
        "security": [{"m": []}],
    }
    [payload] = [payload for payload in payloads(card, "0.3") if payload.form.name.endswith("0.3 writes it")]
    assert payload.raw == (
        b'{"additionalInterfaces":[{"transport":"GRPC","url":"u"}],"capabilities":{"streaming":false},'
        b'"name":"\\u00dc","securitySchemes":{"a":{"scheme":"bearer"}}}'
    )


def test_every_version_has_forms():
    assert all(list(payloads(CARD, version)) for version in VERSIONS)


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_every_form_of_a_version_verifies_with_its_name(version: str):
    card = CARD | {"url": "u", "tenant": "", "iconUrl": "", "provider": None, "x": {"a": 1.0}}
    card |= {
        "capabilities": {"streaming": False, "extensions": [{"uri": "ü", "required": False, "params": {"n": 1.0}}]}
    }
    found = list(payloads(card, version))
    assert len({payload.raw for payload in found}) == len(found) == len(FORMS[version])
    for payload in found:
        result = result_of(card | {"signatures": [sign(payload.raw)]}, public(EC), version)
        assert (result.outcome, result.form) == (SignatureOutcome.VALID, payload.form.name)


def test_signatures_are_not_part_of_the_signed_bytes():
    card = signed(CARD)
    card["signatures"].append(sign(rfc8785.dumps(CARD), OTHER))
    assert [result.outcome for result in verify(card, public(EC, OTHER), "1.0")] == [SignatureOutcome.VALID] * 2


def test_the_result_names_unsigned_members_unless_they_are_empty():
    card = CARD | {
        "signatures": [sign(next(p.raw for p in payloads(CARD, "1.0") if p.form.name.startswith("only the members")))]
    }
    hybrid = card | {"url": "https://evil/", "a/b": [1], "security": [], "iconUrl": None}
    found = result_of(hybrid, public(EC))
    assert found.outcome is SignatureOutcome.VALID
    assert found.uncovered == ("/url", "/a~1b")
    assert "2 members of the card are not signed" in found.reason
