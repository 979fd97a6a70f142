"""The rules about AI Catalogs: their examples, and what they report."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

import pytest
import rfc8785
from joserfc.jwk import ECKey
from mandate_tokens import sign, unsigned

from inspector.findings.card.facts import Served
from inspector.findings.catalog import DOCUMENT, ENTRY, EntryFacts, lint_catalog, lint_entry
from inspector.findings.signatures.keyset import read_keys
from inspector.findings.trust_manifests import verify_manifest
from inspector.protocol.ai_catalog import CARD_TYPE, MEDIA_TYPE, Catalog, read_catalog

NOW = 1_800_000_000.0
GOOD = {"identifier": "urn:air:a.example:agent:a", "type": CARD_TYPE, "url": "https://a.example/card.json"}


def document(*entries: Any, **members: Any) -> bytes:
    return json.dumps({"specVersion": "0.9", "entries": list(entries), **members}).encode()


def rules_of(raw: bytes, content_type: str = "") -> dict[str, str]:
    served = Served("https://a.example/c.json", {"content-type": content_type}) if content_type else None
    return {finding.rule: finding.pointer for finding in lint_catalog(raw, served, NOW)}


def facts(example: Any) -> EntryFacts:
    found = read_catalog(document(example["entry"]))
    assert isinstance(found, Catalog)
    return EntryFacts(found.entries[0], example.get("card", {}).get("version", ""), example.get("why", ""), b"card")


@pytest.mark.parametrize("checked", DOCUMENT.rules, ids=lambda checked: checked.rule.id)
def test_the_examples_of_rules_about_catalogs(checked: Any):
    rule = checked.rule
    if rule.id == "CATALOG-009":
        assert rule.id in rules_of(document(GOOD), rule.failing["content-type"])
        assert rules_of(document(GOOD), rule.passing["content-type"]) == {}
        return
    assert set(rules_of(json.dumps(rule.failing).encode())) == {rule.id}
    assert rules_of(json.dumps(rule.passing).encode()) == {}


@pytest.mark.parametrize("checked", ENTRY.rules, ids=lambda checked: checked.rule.id)
def test_the_examples_of_rules_about_entries(checked: Any):
    assert [finding.rule for finding in lint_entry(facts(checked.rule.failing))] == [checked.rule.id]
    assert lint_entry(facts(checked.rule.passing)) == ()


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"", {"CATALOG-001": ""}),
        (b"<html>", {"CATALOG-001": ""}),
        (b"[1]", {"CATALOG-001": ""}),
        (document(5, GOOD), {"CATALOG-001": "/entries/0"}),
        (document(GOOD | {"identifier": ""}), {"CATALOG-004": "/entries/0"}),
        (document(GOOD | {"type": ["x"]}), {"CATALOG-004": "/entries/0"}),
        (document(GOOD | {"url": 5}), {"CATALOG-008": "/entries/0/url"}),
        (document(GOOD | {"url": "ftp://a.example/x"}), {"CATALOG-008": "/entries/0/url"}),
        (document(GOOD | {"url": "https://[::1"}), {"CATALOG-008": "/entries/0/url"}),
        (document({"identifier": "urn:a", "type": CARD_TYPE}), {"CATALOG-005": "/entries/0"}),
        (document(GOOD | {"metadata": {}}), {"CATALOG-007": "/entries/0/metadata"}),
        (document(GOOD, host=[]), {"CATALOG-010": "/host"}),
        (document(GOOD, specVersion=1.0), {"CATALOG-002": "/specVersion"}),
        (document(GOOD, specVersion="1"), {"CATALOG-002": "/specVersion"}),
        (document(GOOD, specVersion="1.7"), {}),
        (document(), {}),
    ],
)
def test_what_is_wrong_with_a_catalog_is_found_where_it_is(raw: bytes, found: dict[str, str]):
    assert rules_of(raw) == found


def test_an_unsuitable_media_type_is_a_warning_only_over_http():
    assert rules_of(document(GOOD), "text/html") == {"CATALOG-009": ""}
    assert rules_of(document(GOOD), f"{MEDIA_TYPE}; charset=utf-8") == {}
    assert rules_of(document(GOOD)) == {}


def test_a_rule_reports_a_hundred_places_and_that_there_are_more():
    found = Counter(finding.rule for finding in lint_catalog(document(*({} for _ in range(300)))))
    assert found == {"CATALOG-004": 101, "CATALOG-005": 101}


# Trust manifests

SIGNER = "did:web:a.example"
KEY, FOREIGN = (ECKey.generate_key("P-256", {"kid": f"{SIGNER}#key-1"}) for _ in range(2))
EVIDENCE = {"provenance": [{"relation": "publishedFrom", "sourceId": "https://git.a.example"}]}
SUBJECT = dict(GOOD)
TYPE = "ai-catalog-trust-manifest+jws"


def signed(key: Any = KEY, header: Any = None, **members: Any) -> dict[str, Any]:
    """Return a trust manifest that a key signed; members of its signature begin with `sig_`."""
    inner = {"signer": SIGNER, "profile": "did-web-v1", "issuedAt": "2026-01-31T12:00:00Z"}
    inner |= {name.removeprefix("sig_"): value for name, value in members.items() if name.startswith("sig_")}
    rest = {name: value for name, value in members.items() if not name.startswith("sig_")}
    manifest = {"contributor": SIGNER, **EVIDENCE, "subject": SUBJECT, **rest, "signature": inner}
    protected, _, signature = sign(rfc8785.dumps(manifest), key, **{"typ": TYPE, **(header or {})}).split(".")
    return manifest | {"signature": inner | {"jws": f"{protected}..{signature}"}}


def trusting(*manifests: Any, **members: Any) -> bytes:
    return document(GOOD | {"trustManifests": list(manifests)} | members)


@pytest.mark.parametrize(
    ("manifest", "found"),
    [
        (signed(), {}),
        ({"contributor": SIGNER, **EVIDENCE}, {}),
        ({"contributor": SIGNER}, {"CATALOG-013": "/entries/0/trustManifests/0"}),
        (EVIDENCE, {"CATALOG-013": "/entries/0/trustManifests/0"}),
        ("x", {"CATALOG-013": "/entries/0/trustManifests/0"}),
        ({"contributor": "me", **EVIDENCE}, {"CATALOG-013": "/entries/0/trustManifests/0"}),
        (
            {"contributor": SIGNER, "attestations": [{"type": "SOC2"}]},
            {"CATALOG-013": "/entries/0/trustManifests/0/attestations/0"},
        ),
        ({"contributor": SIGNER, "provenance": 5}, {"CATALOG-013": "/entries/0/trustManifests/0/provenance"}),
        (signed(subject=None), {"CATALOG-014": "/entries/0/trustManifests/0"}),
        (signed(subject=SUBJECT | {"type": "x"}), {"CATALOG-014": "/entries/0/trustManifests/0/subject/type"}),
        (signed(subject=SUBJECT | {"version": "1"}), {"CATALOG-014": "/entries/0/trustManifests/0/subject/version"}),
        (
            signed(subject=SUBJECT | {"url": "https://b/"}),
            {"CATALOG-014": "/entries/0/trustManifests/0/subject/url"},
        ),
        (signed(sig_signer="did:web:b.example"), {"CATALOG-015": "/entries/0/trustManifests/0/signature/jws"}),
        (signed(sig_profile=None), {"CATALOG-015": "/entries/0/trustManifests/0/signature"}),
        (signed(header={"typ": "JWT"}), {"CATALOG-015": "/entries/0/trustManifests/0/signature/jws"}),
        (signed(header={"kid": "other"}), {"CATALOG-015": "/entries/0/trustManifests/0/signature/jws"}),
        (signed(sig_expiresAt="2026-06-01T00:00:00Z"), {"CATALOG-016": "/entries/0/trustManifests/0"}),
        (signed(sig_issuedAt="2031-01-01T00:00:00Z"), {"CATALOG-016": "/entries/0/trustManifests/0"}),
        (signed(sig_issuedAt="yesterday"), {"CATALOG-016": "/entries/0/trustManifests/0"}),
    ],
)
def test_what_is_wrong_with_a_trust_manifest_is_found_where_it_is(manifest: Any, found: dict[str, str]):
    assert rules_of(trusting(manifest)) == found


@pytest.mark.parametrize("alg", ["none", "HS256"])
def test_an_insecure_signature_of_a_trust_manifest_is_an_error(alg: str):
    header = {"alg": alg, "typ": TYPE, "kid": f"{SIGNER}#key-1"}
    jws = unsigned({}, "" if alg == "none" else "AAAA", **header).split(".")
    manifest = signed()
    manifest["signature"]["jws"] = f"{jws[0]}..{jws[2]}"
    assert set(rules_of(trusting(manifest))) == {"CATALOG-015"}


def test_a_key_in_the_header_of_a_trust_manifest_is_an_error():
    manifest = signed(header={"jwk": KEY.as_dict(private=False)})
    assert set(rules_of(trusting(manifest))) == {"CATALOG-015"}


def test_the_signature_of_a_trust_manifest_is_verified_with_trusted_keys_only():
    trusted = read_keys(KEY.as_dict(private=False))

    def outcome(manifest: Any, keys: Any = trusted) -> str:
        verdict = verify_manifest(manifest, keys)
        assert verdict is not None
        return verdict.outcome.value

    assert outcome(signed()) == "valid"
    assert outcome(signed() | {"additionalSignatures": []}) == "valid"
    assert outcome(signed(), None) == "not verified"
    assert outcome(signed() | {"provenance": []}) == "not valid"
    assert outcome(signed(FOREIGN)) == "not valid"
    assert verify_manifest({"contributor": SIGNER}, trusted) is None


def test_the_manifest_of_earlier_drafts_is_judged_and_verified():
    manifest = {"identity": SIGNER, **EVIDENCE}
    protected, _, signature = sign(rfc8785.dumps(manifest), KEY).split(".")
    manifest = manifest | {"signature": f"{protected}..{signature}"}
    found = rules_of(document(GOOD | {"trustManifest": manifest}))
    assert found == {"CATALOG-007": "/entries/0/trustManifest"}
    verdict = verify_manifest(manifest, read_keys(KEY.as_dict(private=False)))
    assert verdict is not None
    assert verdict.outcome.value == "valid"


def test_digests_of_inline_data_and_extensions_are_computed():
    data = {"name": "A", "version": "1"}
    extensions = {"com.example": {"a": 1}}
    right = {
        "digest": f"sha256:{hashlib.sha256(rfc8785.dumps(data)).hexdigest()}",
        "extensionDigests": {"com.example": f"sha384:{hashlib.sha384(rfc8785.dumps({'a': 1})).hexdigest()}"},
    }
    own = {name: GOOD[name] for name in ("identifier", "type")}
    for change, is_right in (({}, True), ({"digest": "sha256:00"}, False), ({"digest": "md5:00"}, False)):
        manifest = signed(subject={**own, **right, **change})
        entry = {**own, "data": data, "extensions": extensions, "trustManifests": [manifest]}
        assert ("CATALOG-014" not in rules_of(document(entry))) is is_right, change
    manifest = signed(subject={**own, **right})
    entry = {**own, "data": data, "extensions": {"com.example": {"a": 2}}, "trustManifests": [manifest]}
    assert "CATALOG-014" in rules_of(document(entry))


def test_the_digest_of_a_fetched_card_is_compared():
    raw = b'{"name": "A"}'
    right = f"sha256:{hashlib.sha256(raw).hexdigest()}"
    for digest, found in ((right, []), ("sha256:00", ["CATALOG-017"]), (5, ["CATALOG-017"])):
        for entry in (
            GOOD | {"digest": digest},
            GOOD | {"trustManifests": [signed(subject=SUBJECT | {"digest": digest})]},
        ):
            catalog = read_catalog(document(entry))
            assert isinstance(catalog, Catalog)
            assert [each.rule for each in lint_entry(EntryFacts(catalog.entries[0], served=raw))] == found
            assert lint_entry(EntryFacts(catalog.entries[0])) == ()


@pytest.mark.parametrize(
    "value", [None, 5, "x", [], {}, [[]], [None], [{"signature": 5, "contributor": "a:b"}], {"a": {}}]
)
def test_any_value_of_trust_manifests_is_read(value: Any):
    rules_of(document(GOOD | {"trustManifests": value, "trustManifest": value}))
    assert isinstance(read_catalog(document(GOOD | {"trustManifests": value})), Catalog)
