"""Secrets that only their location reveals are masked in every spelling of JSON; everything else stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.capture.redaction import Redactor

LOCATED = "canary-8a2e9b-located"
"""A secret that only its location reveals: nobody told the inspector."""
URLS = (
    f"https://u:{LOCATED}@files.example/a.pdf",
    f"https://files.example/a.pdf?x=1&token={LOCATED}",
    f"https://files.example/a.pdf?X-Amz-Signature={LOCATED}&y=2",
    f"https://files.example/a#access_token={LOCATED}",
)
MEMBERS = (
    *("authorization", "Authorization", "api_key", "apiKey", "x-api-key", "password", "client_secret", "cookie"),
    *("access_token", "refreshToken", "token", "authToken", "secret", "jwt", "credentials", "Set-Cookie"),
)
LOCATIONS: dict[str, Any] = {
    **{f"url {url}": {"parts": [{"url": url}]} for url in URLS},
    **{f"text with {url}": {"parts": [{"text": f"see <{url}>, please"}]} for url in URLS},
    **{f"webhook {url}": {"taskId": "t", "pushNotificationConfig": {"url": url}} for url in URLS},
    **{name: {"metadata": {"deep": [{name: LOCATED}]}} for name in MEMBERS},
    **{f"{name} in JSON text": {"parts": [{"text": json.dumps({name: LOCATED})}]} for name in MEMBERS},
    **{f"{name} number": {"metadata": {name: 8_297_461_938_265}} for name in ("password", "api_key")},
    "form": {"text": f"grant_type=x&client_secret={LOCATED}"},
}


@pytest.mark.parametrize("value", LOCATIONS.values(), ids=LOCATIONS)
@pytest.mark.parametrize("spelled", ["plain", "ascii", "slashes", "html", "spaced"])
def test_a_secret_is_masked_by_its_location_in_every_spelling_of_json(value: Any, spelled: str):
    raw = json.dumps(value, ensure_ascii=spelled == "ascii", indent=2 if spelled == "spaced" else None)
    match spelled:
        case "slashes":
            raw = raw.replace("/", "\\/")
        case "html":  # as encoders of Go and .NET write
            raw = raw.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003E")
    masked = Redactor().body(raw.encode())
    assert LOCATED.encode() not in masked
    assert b"8297461938265" not in masked
    assert b"****" in masked
    assert json.loads(masked), "JSON stays valid"
    assert LOCATED not in Redactor().text(raw)


@pytest.mark.parametrize(
    "value",
    [
        {"token": " the", "tokens": 12, "nextPageToken": "abc-123456789", "tokenCount": "123456789"},
        {"securitySchemes": {"apiKey": {"type": "apiKey", "name": "Authorization", "in": "header"}}},
        {"security": [{"authorization": ["read:all-1"]}], "authorizationUrl": "https://a.example/?x=1"},
        {"url": "https://a.example/@user?q=a@b&page=2", "mail": "mailto:a@b.example", "signature": "abc123456789"},
        {"text": "for (i=0; key=1; code=2) { a?b=c }", "key": "k1234567890", "uri": "https://x.example/ext/v1?a=b"},
    ],
)
def test_what_is_not_a_secret_stays(value: Any):
    raw = json.dumps(value).encode()
    assert Redactor().body(raw) == raw
