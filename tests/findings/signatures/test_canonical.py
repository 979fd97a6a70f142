"""The canonical forms that a signature may be over."""

from __future__ import annotations

import json
from typing import Any

import pytest
import rfc8785
from signed_cards import CARD, EC, OTHER, public, sign, signed, verdict

from inspector.findings.signatures.canonical import FORMS, payloads
from inspector.findings.signatures.verify import Outcome, verify
from inspector.protocol.dialects.traits import VERSIONS


def forms(card: dict[str, Any], version: str) -> dict[str, Any]:
    return {made.form.name: json.loads(made.raw) for made in payloads(card, version) if not made.why}


def test_default_values_go_unless_required_or_told_from_absence():
    card = CARD | {"documentationUrl": "", "securityRequirements": [], "x": "", "provider": {"organization": ""}}
    card["supportedInterfaces"] = [{"url": "", "tenant": "", "protocolBinding": "", "protocolVersion": ""}]
    left = forms(card, "1.0")["the card without default values"]
    kept = {name: held for name, held in card.items() if name != "securityRequirements"}
    assert left == kept | {"supportedInterfaces": [{"url": "", "protocolBinding": "", "protocolVersion": ""}]}


def test_the_members_of_other_versions_go_at_every_depth():
    scheme = {"httpAuthSecurityScheme": {"scheme": "bearer", "type": "x"}, "type": "http"}
    extension = {"uri": "u", "params": {"type": "kept"}, "x": 1}
    card = CARD | {"url": "u", "securitySchemes": {"a": scheme}, "capabilities": {"extensions": [extension]}}
    left = forms(card, "1.0")["the members of 1.0 alone"]
    assert "url" not in left
    assert left["securitySchemes"] == {"a": {"httpAuthSecurityScheme": {"scheme": "bearer"}}}
    assert left["capabilities"] == {"extensions": [{"uri": "u", "params": {"type": "kept"}}]}


def test_the_sdk_of_1_3_leaves_out_all_that_is_empty_but_a_false_that_was_said():
    extension = {"uri": "u", "required": False, "params": {"n": 1, "b": False, "e": "", "z": None, "l": [{}]}}
    card = CARD | {"capabilities": {"streaming": False, "extensions": [extension]}, "iconUrl": ""}
    left = forms(card, "1.0")["the card as the Python SDK 1.3 writes it"]
    assert left == {
        "name": CARD["name"],
        "supportedInterfaces": CARD["supportedInterfaces"],
        "version": "1",
        "capabilities": {"streaming": False, "extensions": [{"uri": "u", "params": {"n": 1, "b": False}}]},
        "defaultOutputModes": ["text/plain"],
    }


def test_the_sdk_of_0_3_leaves_out_the_defaults_of_its_models():
    card = {
        "name": "Ü",
        "protocolVersion": "0.3.0",
        "preferredTransport": "JSONRPC",
        "additionalInterfaces": [{"url": "u", "transport": "GRPC", "x": 1}],
        "capabilities": {"streaming": False},
        "securitySchemes": {"a": {"type": "http", "scheme": "bearer"}, "m": {"type": "mutualTLS"}},
        "security": [{"m": []}],
    }
    [made] = [one for one in payloads(card, "0.3") if one.form.name.endswith("0.3 writes it")]
    assert made.raw == (
        b'{"additionalInterfaces":[{"transport":"GRPC","url":"u"}],"capabilities":{"streaming":false},'
        b'"name":"\\u00dc","securitySchemes":{"a":{"scheme":"bearer"}}}'
    )


def test_every_version_has_its_forms():
    assert all(list(payloads(CARD, version)) for version in VERSIONS)


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_every_form_of_a_version_is_found_and_named(version: str):
    card = CARD | {"url": "u", "tenant": "", "iconUrl": "", "provider": None, "x": {"a": 1.0}}
    card |= {
        "capabilities": {"streaming": False, "extensions": [{"uri": "ü", "required": False, "params": {"n": 1.0}}]}
    }
    made = list(payloads(card, version))
    assert len({one.raw for one in made}) == len(made) == len(FORMS[version])
    for one in made:
        found = verdict(card | {"signatures": [sign(one.raw)]}, public(EC), version)
        assert (found.outcome, found.form) == (Outcome.VALID, one.form.name)


def test_signatures_are_no_part_of_what_is_signed():
    card = signed(CARD)
    card["signatures"].append(sign(rfc8785.dumps(CARD), OTHER))
    assert [one.outcome for one in verify(card, public(EC, OTHER), "1.0")] == [Outcome.VALID] * 2


def test_the_verdict_names_what_nobody_signed_and_passes_over_what_says_nothing():
    card = CARD | {
        "signatures": [sign(next(p.raw for p in payloads(CARD, "1.0") if p.form.name.startswith("the members")))]
    }
    hybrid = card | {"url": "https://evil/", "a/b": [1], "security": [], "iconUrl": None}
    found = verdict(hybrid, public(EC))
    assert found.outcome is Outcome.VALID
    assert found.uncovered == ("/url", "/a~1b")
    assert "2 members of the card are outside of that and not signed" in found.reason
