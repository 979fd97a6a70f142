"""The data of known extensions: where it is found in a payload, and what it means; also if it is invalid."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.extensions import may_have_uses
from inspector.protocol.extensions.known import (
    A2UI,
    AGP,
    KNOWN,
    NUMBERED,
    PASSPORT,
    TIMESTAMP,
    TRACEABILITY,
    Use,
    known,
    title_of,
    uses_in,
)
from inspector.protocol.extensions.outline import LONGEST, MOST_LINES


def part(data: Any, **members: Any) -> dict[str, Any]:
    return {"message": {"parts": [{"data": data, **members}]}}


def with_metadata(key: str, value: Any) -> dict[str, Any]:
    return {"message": {"parts": [], "metadata": {key: value}}}


def only(value: Any) -> Use:
    [use] = uses_in(value)
    return use


def lines(use: Use) -> list[str]:
    return [f"{'  ' * line.depth}{line.label} {line.text}".rstrip() for line in use.outline.lines]


def problems(use: Use) -> list[str]:
    return [line.text for line in use.outline.lines if line.is_problem]


# Names


@pytest.mark.parametrize(
    ("uri", "title"),
    [
        (f"{A2UI}v0.8", "A2UI v0.8"),
        (f"{A2UI}v0.9.1", "A2UI v0.9.1"),
        ("https://github.com/google-agentic-commerce/ap2/v1", "AP2 v1"),
        ("https://github.com/google-agentic-commerce/AP2/tree/v0.1", "AP2 v0.1"),
        (f"https://{TIMESTAMP}", "Timestamps v1"),
        (f"https://{TRACEABILITY}/", "Traceability v1"),
        (PASSPORT, "Secure Passport 1.0.0"),
        (AGP, "Agent Gateway Protocol 1.0.0"),
        ("urn:other", ""),
        ("https://a2ui.org/other", ""),
        ("", ""),
    ],
)
def test_extensions_are_known_by_their_uri(uri: str, title: str):
    assert title_of(uri) == title
    assert (known(uri) is None) is (title == "")


# A2UI

COMPONENTS = [
    {"id": "root", "component": "Column", "children": ["title", "name", "send", "gone"]},
    {"id": "title", "component": "Text", "text": "Order"},
    {"id": "name", "component": "TextField", "label": "Name", "value": {"path": "/user/name"}},
    {"id": "send", "component": "Button", "child": "label", "action": {"event": {"name": "order"}}},
    {"id": "label", "component": "Text", "text": {"literalString": "Send"}},
]
SURFACE = [
    {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": "basic"}},
    {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": COMPONENTS}},
    {"version": "v0.9", "updateDataModel": {"surfaceId": "s", "path": "/user", "value": {"name": "Ada"}}},
]


@pytest.mark.parametrize(
    "payload",
    [
        part(SURFACE, mediaType="application/a2ui+json"),
        part(SURFACE, mediaType="application/json+a2ui; charset=utf-8"),
        part(SURFACE, kind="data", metadata={"mimeType": "application/json+a2ui"}),
        part({"data": SURFACE}, metadata={"mimeType": "application/a2ui+json"}),
    ],
)
def test_an_a2ui_surface_is_a_tree_of_its_components(payload: Any):
    use = only(payload)
    assert use.extension.name == "A2UI"
    assert use.outline.title == "A2UI s: 5 components, s data at /user"
    assert lines(use) == [
        "createSurface s",
        "  catalog basic",
        "updateComponents s: 5 components",
        "  Column",
        "    Text Order",
        "    TextField Name  = {/user/name} Ada",
        "    Button sends order",
        "      Text Send",
        "     gone: not in this message",
        "updateDataModel s data at /user",
        '  /user {"name": "Ada"}',
    ]


def test_the_data_of_an_a2ui_surface_is_not_changed():
    messages = [
        {"updateDataModel": {"surfaceId": "s", "value": {"user": {"name": "Ada"}}}},
        {"updateDataModel": {"surfaceId": "s", "path": "/user/age", "value": 36}},
        {"updateDataModel": {"surfaceId": "s", "path": "/user/name/first", "value": "Ada"}},
        {"updateComponents": {"surfaceId": "s", "components": [{"id": "root", "text": {"path": "/user/age"}}]}},
    ]
    before = json.dumps(messages)
    use = only(part(messages, mediaType="application/a2ui+json"))
    assert lines(use)[1] == "  / dict, see the JSON"
    assert lines(use)[-1] == "  component {/user/age} 36"
    assert json.dumps(messages) == before


def test_a2ui_0_8_is_read_too():
    components = [
        {
            "id": "main",
            "component": {"List": {"children": {"template": {"componentId": "row", "dataBinding": "/all"}}}},
        },
        {"id": "row", "component": {"Text": {"text": {"path": "name"}}}},
        {"id": "tabs", "component": {"Tabs": {"tabItems": [{"title": {"literalString": "One"}, "child": "row"}]}}},
    ]
    use = only(
        part(
            {"surfaceUpdate": {"surfaceId": "s", "components": components}},
            metadata={"mimeType": "application/json+a2ui"},
        )
    )
    assert lines(use) == [
        "surfaceUpdate s: 3 components",
        "  List",
        "    Text {name}  for each of /all",
        "  Tabs",
        "     row: see above  tab One",
    ]


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ({"action": {"surfaceId": "s", "name": "order", "sourceComponentId": "b"}}, "A2UI s: order by b"),
        ({"userAction": {"surfaceId": "s", "name": "order"}}, "A2UI s: order"),
        ({"deleteSurface": {"surfaceId": "s"}}, "A2UI s"),
        ({"error": {"surfaceId": "s", "message": "no such catalog"}}, "A2UI s: no such catalog"),
        ({}, "A2UI without messages"),
        ("text", "A2UI without messages"),
        (None, "A2UI without messages"),
    ],
)
def test_other_messages_of_a2ui_are_named(message: Any, title: str):
    assert only(part([message], mediaType="application/a2ui+json")).outline.title == title


def test_components_that_contain_each_other_end():
    circle = [{"id": "a", "component": "Row", "child": "b"}, {"id": "b", "component": "Row", "child": "a"}]
    use = only(part([{"updateComponents": {"components": circle}}], mediaType="application/a2ui+json"))
    assert [line.strip() for line in lines(use)[1:]] == ["Row", "Row", "a: see above"]


# AP2

CART = {
    "contents": {
        "id": "cart-1",
        "merchant_name": "Shop",
        "cart_expiry": "2030-01-01T00:00:00Z",
        "payment_request": {
            "details": {
                "displayItems": [{"label": "Shoes", "amount": {"currency": "USD", "value": 120.0}}],
                "total": {"label": "Total", "amount": {"currency": "USD", "value": 120.0}},
            }
        },
    },
}


def encoded(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def jwt(payload: Any, **header: Any) -> str:
    return ".".join((encoded({"alg": "ES256", **header}), encoded(payload), encoded(b"signature")))


def digest(text: str) -> str:
    return encoded(hashlib.sha256(text.encode()).digest())


def test_a_cart_mandate_shows_merchant_amount_and_expiry():
    signed = CART | {"merchant_authorization": jwt({"iss": "Shop", "exp": 1893456000}, kid="k1")}
    use = only(part({"ap2.mandates.CartMandate": signed, "risk_data": "x"}))
    assert use.extension.name == "AP2"
    assert use.outline.title == "cart mandate, Shop, USD 120.0, until 2030-01-01T00:00:00Z"
    assert lines(use) == [
        "cart mandate",
        "  merchant Shop",
        "  total USD 120.0",
        "  expires 2030-01-01T00:00:00Z",
        "  cart cart-1",
        "    item Shoes  USD 120.0",
        "  merchant signature present (ES256, key k1)",
        "    issuer Shop",
        "    expires 2030-01-01T00:00:00Z",
    ]


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        (None, "none"),
        ("", "none"),
        (5, "none"),
        ("****", "present, masked in the record"),
        ("sig_merchant", "present, 12 characters, not a JWT"),
        ("a.b.c", "present, 5 characters, not a JWT"),
    ],
)
def test_other_signatures_are_described(token: Any, shown: str):
    use = only(part({"ap2.mandates.CartMandate": CART | {"merchant_authorization": token}}))
    assert f"  merchant signature {shown}" in lines(use)


def test_the_other_mandates_of_0_1_are_described():
    intent = {"natural_language_description": "Red shoes", "merchants": ["Shop"], "intent_expiry": "2030"}
    assert only(part({"ap2.mandates.IntentMandate": intent})).outline.title == "intent mandate, Red shoes, until 2030"
    alone = intent | {"user_cart_confirmation_required": False}
    assert "  confirmation not required: the agent may buy alone" in lines(
        only(part({"ap2.mandates.IntentMandate": alone}))
    )
    total = {"label": "Total", "amount": {"currency": "USD", "value": 5}}
    contents = {"payment_details_total": total, "merchant_agent": "Shop", "payment_response": {"method_name": "CARD"}}
    use = only(part({"ap2.mandates.PaymentMandate": {"payment_mandate_contents": contents}}))
    assert use.outline.title == "payment mandate, Shop, USD 5"
    assert "  user signature none" in lines(use)


def test_a_mandate_of_0_2_is_read_from_its_token():
    name = encoded(["salt", {"vct": "mandate.payment.1", "payee": {"name": "Shop"}, "exp": 1893456000}])
    amount = encoded(["salt", "payment_amount", {"currency": "USD", "amount": 27999}])
    payload = {"_sd_alg": "sha-256", "_sd": [digest(amount)], "delegate_payload": [{"...": digest(name)}]}
    token = f"{jwt(payload, kid='agent')}~{name}~{amount}~"
    use = only(part({"ap2.mandates.PaymentMandateSdJwt": token}))
    assert use.outline.title == "payment mandate, Shop, USD 27999 (smallest unit), until 2030-01-01T00:00:00Z"
    assert problems(use) == []
    assert "  issuer signature present (ES256, key agent)" in lines(use)


def test_a_disclosure_that_does_not_belong_to_the_token_is_not_shown():
    stranger = encoded(["salt", "payment_amount", {"currency": "USD", "amount": 1}])
    use = only(part({"ap2.mandates.PaymentMandateSdJwt": f"{jwt({'vct': 'mandate.payment.1'})}~{stranger}~"}))
    assert "USD" not in use.outline.title


def test_the_checkout_of_a_mandate_is_shown():
    checkout = jwt({"merchant": {"name": "Shop"}, "total": {"currency": "USD", "amount": 100}})
    claims = {"vct": "mandate.checkout.1", "checkout_jwt": checkout, "checkout_hash": digest(checkout)}
    use = only(part({"ap2.mandates.CheckoutMandateSdJwt": f"{jwt(claims)}~"}))
    assert "    merchant Shop" in lines(use)


@pytest.mark.parametrize("content", [None, 5, [], "no token", "~~", "a.b.c~x", {"contents": 5}, {"payee": "Shop"}])
@pytest.mark.parametrize("key", ["CartMandate", "IntentMandate", "PaymentMandate", "PaymentMandateSdJwt", "Other"])
def test_invalid_mandates_have_a_title(key: str, content: Any):
    assert only(part({f"ap2.mandates.{key}": content})).outline.title


# Traceability

TRACE = {
    "trace_id": "t-1",
    "steps": [
        {"step_id": "1", "call_type": "AGENT", "name": "planner", "latency": 1500, "total_tokens": 512, "cost": 3},
        {
            "step_id": "2",
            "parent_step_id": "1",
            "call_type": "TOOL",
            "name": "search",
            "parameters": {"q": "x"},
            "latency": 40,
        },
        {"step_id": "3", "parent_step_id": "2", "call_type": "TOOL", "name": "read", "error": "timed out"},
        {"step_id": "4", "parent_step_id": "none", "name": "end"},
    ],
}


@pytest.mark.parametrize(
    "payload",
    [
        with_metadata(f"{TRACEABILITY}/traceability", TRACE),
        with_metadata(f"https://{TRACEABILITY}/traceability", TRACE),
        part(TRACE),
    ],
)
def test_a_trace_is_a_tree_of_its_steps(payload: Any):
    use = only(payload)
    assert use.extension.name == "Traceability"
    assert use.outline.title == "trace t-1: 4 steps, 512 tokens, cost 3, 1 failed"
    assert lines(use) == [
        "trace t-1",
        "agent planner, 1.5 s, 512 tokens, cost 3",
        "  tool search, 40 ms",
        '    parameters {"q": "x"}',
        "    tool read",
        "      error timed out",
        "step end",
    ]
    assert problems(use) == ["timed out"]


def test_a_trace_in_protojson_with_the_trace_of_another_agent_is_read():
    inner = {"traceId": "t-2", "steps": [{"stepId": "i", "callType": "TOOL", "totalTokens": "7"}]}
    agent = {"agentInvocation": {"agentName": "helper", "responseTrace": inner}}
    trace = {
        "traceId": "t-1",
        "steps": [{"stepId": "1", "callType": "AGENT", "totalTokens": "12", "stepAction": agent}],
    }
    use = only(with_metadata(f"{TRACEABILITY}/traceability", trace))
    assert lines(use) == ["trace t-1", "agent helper, 12 tokens", "  tool i, 7 tokens"]


def test_steps_in_a_circle_are_shown_once():
    steps = [{"step_id": "a", "parent_step_id": "b"}, {"step_id": "b", "parent_step_id": "a"}, {"step_id": "a"}]
    use = only(part({"trace_id": "t", "steps": steps}))
    assert len(lines(use)) == 4


# Timestamps, passport, numbers


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("2026-01-31T12:00:00Z", ""),
        ("2026-01-31T12:00:00.123456789Z", ""),
        ("2026-01-31T12:00:00+01:00", "the time zone is UTC+01:00, expected UTC"),
        ("2026-01-31T12:00:00", "it has no time zone, expected UTC"),
        ("yesterday", "not a time of RFC 3339"),
        (5, "not a time of RFC 3339"),
        (None, "not a time of RFC 3339"),
    ],
)
def test_a_timestamp_is_checked(value: Any, problem: str):
    use = only(with_metadata(f"{TIMESTAMP}/timestamp", value))
    assert use.extension.name == "Timestamps"
    assert problems(use) == ([problem] if problem else [])


def test_a_passport_shows_client_state_and_signature():
    passport = {"clientId": "a2a://caller", "sessionId": "s", "signature": "x" * 20, "state": {"currency": "GBP"}}
    use = only(with_metadata(PASSPORT, passport))
    assert use.outline.title == "passport of a2a://caller, signed"
    assert lines(use) == [
        "client a2a://caller",
        "session s",
        "signature present, 20 characters",
        "state 1 member",
        "  currency GBP",
    ]
    assert problems(only(with_metadata(PASSPORT, {}))) == ["clientId is missing", "state is missing"]
    assert only(with_metadata(PASSPORT, {"clientId": "c", "state": {}})).outline.title == "passport of c, not signed"


def test_the_number_of_an_event_needs_no_title():
    use = only({"result": {"task": {"metadata": {NUMBERED: 7}}}})
    assert (use.outline.title, lines(use)) == ("", ["event 7"])


# Where, and limits


def test_every_use_has_its_place():
    value = {
        "result": {"task": {"history": [part(CART | {"ap2.x": 1})["message"], with_metadata(PASSPORT, {})["message"]]}}
    }
    assert [use.pointer.rpartition("/")[0] for use in uses_in(value)] == [
        "/result/task/history/0/parts/0",
        "/result/task/history/1/metadata",
    ]


def test_other_data_is_not_a_use():
    for data in ({"a": 1}, [1], None, {"steps": []}, {"trace_id": "t"}, {"ap2": 1}):
        assert uses_in(part(data)) == []
    assert uses_in(with_metadata("urn:other", {})) == []
    assert uses_in(part(SURFACE, mediaType="application/json")) == []


def test_payloads_with_data_of_an_extension_are_recognised_by_their_bytes():
    payloads = [
        part(SURFACE, mediaType="application/a2ui+json"),
        part({"ap2.mandates.CartMandate": {}}),
        part(TRACE),
        with_metadata(f"{TIMESTAMP}/timestamp", "x"),
        with_metadata(PASSPORT, {}),
        with_metadata(NUMBERED, 1),
    ]
    for payload in payloads:
        assert uses_in(payload)
        assert may_have_uses(json.dumps(payload).encode())
        assert may_have_uses(json.dumps(payload).replace("/", "\\/").encode())
    assert not may_have_uses(b'{"text": "hello", "data": {"a": 1}}')


def test_outlines_are_bounded():
    many = [{"id": str(number), "component": "Text", "text": "x" * 10_000} for number in range(5_000)]
    use = only(part([{"updateComponents": {"components": many}}], mediaType="application/a2ui+json"))
    assert len(use.outline.lines) == MOST_LINES + 1
    assert all(len(line.text) <= LONGEST + 1 for line in use.outline.lines)
    assert len(uses_in([with_metadata(PASSPORT, {}) for _ in range(1_000)])) == 100


def test_deep_and_wide_payloads_end():
    deep: Any = with_metadata(PASSPORT, {})
    for _ in range(500):
        deep = {"a": deep}
    assert uses_in(deep) == []
    assert uses_in([[0] * 10] * 200_000) == []
    trace: Any = {"steps": []}
    for _ in range(200):
        inner = {"agent_invocation": {"agent_name": "x", "response_trace": trace}}
        trace = {"trace_id": "t", "steps": [{"step_id": "1", "step_action": inner}]}
    assert len(only(with_metadata(f"{TRACEABILITY}/traceability", trace)).outline.lines) < 50


NAMES = st.sampled_from(
    [
        "trace_id",
        "steps",
        "step_id",
        "parent_step_id",
        "components",
        "id",
        "component",
        "children",
        "child",
        "contents",
        "payment_request",
        "details",
        "total",
        "amount",
        "updateComponents",
        "updateDataModel",
        "path",
        "value",
        "state",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=5),
    max_leaves=30,
)


@given(JSON)
def test_any_data_has_an_outline(value: Any):
    payloads = [
        part(value, mediaType="application/a2ui+json"),
        part([value], mediaType="application/a2ui+json"),
        part({"ap2.mandates.CartMandate": value, "ap2.mandates.PaymentMandate": value, "ap2.other": value}),
        *(with_metadata(extension.keys[0], value) for extension in KNOWN if extension.keys),
    ]
    for payload in payloads:
        for use in uses_in(payload):
            for line in use.outline.lines:
                assert "\n" not in line.text
