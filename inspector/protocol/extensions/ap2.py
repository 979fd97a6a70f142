"""AP2, the Agent Payments Protocol 0.1 and 0.2: mandates and receipts in data parts, as amount, merchant and expiry."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from inspector.protocol.extensions.outline import (
    Line,
    Outline,
    decoded_base64url,
    fields,
    items,
    jwt_parts,
    members,
    outline,
    text,
)
from inspector.protocol.jsonvalue import parse

PREFIX = "ap2."
"""The beginning of the names under which a data part has an object of AP2."""
_NAMES = {
    "ap2.mandates.IntentMandate": "intent mandate",
    "ap2.mandates.CartMandate": "cart mandate",
    "ap2.mandates.PaymentMandate": "payment mandate",
    "ap2.mandates.PaymentMandateSdJwt": "payment mandate",
    "ap2.mandates.CheckoutMandateSdJwt": "checkout mandate",
    "ap2.PaymentReceipt": "payment receipt",
    "ap2.CheckoutReceipt": "checkout receipt",
    "ap2.checkout": "checkout",
    "ap2.cart": "cart",
}
_MOST_ITEMS = 20
_DEEPEST = 4
_DIGESTS = {"sha-256": hashlib.sha256, "sha-384": hashlib.sha384, "sha-512": hashlib.sha512}


def describe(value: Any) -> Outline:
    """Return the mandates and receipts in the data of a part."""
    titles, lines = [], []
    for key, content in members(value).items():
        if key.startswith(PREFIX):
            title, of_content = _object(key, content)
            titles.append(title)
            lines += [Line(0, title.partition(",")[0]), *of_content]
    return outline("; ".join(titles), lines)


def _object(key: str, content: Any) -> tuple[str, list[Line]]:
    name = _NAMES.get(key, key.removeprefix(PREFIX))
    if isinstance(content, str):
        return _tokens(name, content)
    found = members(content)
    match key:
        case "ap2.mandates.CartMandate":
            return _cart(name, found)
        case "ap2.mandates.IntentMandate":
            return _intent(name, found)
        case "ap2.mandates.PaymentMandate":
            return _payment(name, found)
        case _:
            return _claims(name, found)


def _titled(name: str, *details: str) -> str:
    return ", ".join(filter(None, (name, *details)))


def _amount(value: Any) -> str:
    """Return an amount: `value` in units of the currency (W3C), or `amount` in its smallest units (0.2)."""
    found = members(value)
    inner = members(found.get("amount")) or found
    number, currency = inner.get("value"), text(inner.get("currency"))
    if number is not None:
        return f"{currency} {text(number)}".strip()
    smallest = inner.get("amount")
    return f"{currency} {text(smallest)} (smallest unit)".strip() if smallest is not None else ""


def _cart(name: str, mandate: Any) -> tuple[str, list[Line]]:
    contents = members(mandate.get("contents"))
    details = members(members(contents.get("payment_request")).get("details"))
    total, merchant = _amount(details.get("total")), text(contents.get("merchant_name"))
    bought = items(details.get("displayItems", details.get("display_items")))
    lines = fields(
        1,
        ("merchant", merchant),
        ("total", total),
        ("expires", contents.get("cart_expiry")),
        ("cart", contents.get("id")),
    )
    lines += [Line(2, "item", f"{text(members(item).get('label'))}  {_amount(item)}") for item in bought[:_MOST_ITEMS]]
    lines += [Line(2, "", f"{len(bought) - _MOST_ITEMS:,} more items")] if len(bought) > _MOST_ITEMS else []
    lines += _signature("merchant", mandate.get("merchant_authorization", mandate.get("merchant_signature")))
    return _titled(name, merchant, total, _until(contents.get("cart_expiry"))), lines


def _intent(name: str, mandate: Any) -> tuple[str, list[Line]]:
    wish = text(mandate.get("natural_language_description"))
    confirmation = mandate.get("user_cart_confirmation_required")
    lines = fields(
        1,
        ("wish", wish),
        ("merchants", mandate.get("merchants")),
        ("products", mandate.get("skus")),
        ("expires", mandate.get("intent_expiry")),
        ("confirmation", "required" if confirmation in (True, None) else "not required: the agent may buy alone"),
    )
    return _titled(name, wish, _until(mandate.get("intent_expiry"))), lines


def _payment(name: str, mandate: Any) -> tuple[str, list[Line]]:
    contents = members(mandate.get("payment_mandate_contents", mandate.get("payment_details")))
    total = _amount(contents.get("payment_details_total", contents.get("amount")))
    merchant = contents.get("merchant_agent", members(contents.get("merchant_agent_card")).get("name"))
    response = members(contents.get("payment_response", contents.get("payment_method")))
    lines = fields(
        1,
        ("merchant", merchant),
        ("total", total),
        ("method", response.get("method_name", response.get("supported_methods"))),
        ("made", contents.get("timestamp", mandate.get("creation_time"))),
        ("mandate", contents.get("payment_mandate_id")),
    )
    lines += _signature("user", mandate.get("user_authorization"))
    return _titled(name, text(merchant), total), lines


def _claims(name: str, found: Any) -> tuple[str, list[Line]]:
    """Describe the claims of a mandate of 0.2, or any other object: its amount, its merchant, its expiry."""
    payee = members(found.get("payee", found.get("merchant")))
    total = _amount(found.get("payment_amount", found.get("total", found.get("amount"))))
    expires = _time(found.get("exp"))
    lines = fields(
        1,
        ("type", found.get("vct")),
        ("merchant", payee.get("name")),
        ("website", payee.get("website")),
        ("total", total),
        ("instrument", members(found.get("payment_instrument")).get("description")),
        ("status", found.get("status", found.get("payment_status"))),
        ("error", found.get("error")),
        ("made", _time(found.get("iat"))),
        ("expires", expires),
    )
    for constraint in items(found.get("constraints"))[:_MOST_ITEMS]:
        limits = {key: value for key, value in members(constraint).items() if key != "type"}
        lines.append(Line(2, text(members(constraint).get("type")) or "constraint", text(limits)))
    checkout = found.get("checkout_jwt")
    if isinstance(checkout, str):
        lines += _signature("merchant", checkout)
        if (parts := jwt_parts(checkout)) is not None:
            lines += [line._replace(depth=line.depth + 1) for line in _claims("", parts[1])[1]]
        lines += _checkout_hash(checkout, found)
    return _titled(name, text(payee.get("name")), total, _until(expires)), lines


def _checkout_hash(checkout: str, found: Any) -> Iterator[Line]:
    """Compare the hash in a checkout mandate with its checkout (AP2 0.2, Checkout Mandate)."""
    digest = _DIGESTS.get(text(found.get("_sd_alg")) or "sha-256")
    stated = found.get("checkout_hash")
    if digest is not None and isinstance(stated, str):
        same = _encoded(digest(checkout.encode()).digest()) == stated.rstrip("=")
        words = "checkout_hash is that of the checkout" if same else "checkout_hash is not that of the checkout"
        yield Line(1, "hash", words, is_problem=not same)


def _tokens(name: str, content: str) -> tuple[str, list[Line]]:
    """Describe a chain of SD-JWTs; the last is the mandate itself, those before it authorize its signer."""
    tokens = [token for token in content.split("~~") if token]
    title, lines = name, []
    for number, token in enumerate(tokens[:_DEEPEST]):
        jwt, *disclosures = token.split("~")
        parts = jwt_parts(jwt)
        if parts is None:
            lines.append(Line(1, "token", "not an SD-JWT", is_problem=True))
            continue
        claims, problems = _disclosed(parts[1], [each for each in disclosures if each and "." not in each])
        of_token, found = _claims(name, claims)
        title = of_token
        lines += [Line(1, "token", f"{number + 1} of {len(tokens)}")] if len(tokens) > 1 else []
        lines += [*found, *problems, *_signature("issuer", jwt)]
    return title, lines


def _disclosed(payload: Any, disclosures: list[str]) -> tuple[Any, list[Line]]:
    """Return the claims of an SD-JWT with those that are disclosed, and the disclosures that do not belong to it.

    A disclosure belongs to the token if its digest is in the token, or in another disclosure (RFC 9901 section 7.1).
    """
    digest = _DIGESTS.get(text(members(payload).get("_sd_alg")) or "sha-256", hashlib.sha256)
    values = {_encoded(digest(each.encode()).digest()): parse(decoded_base64url(each)) for each in disclosures}
    used: set[str] = set()
    claims = _with_disclosed(payload, values, used, 0)
    inner = [each for each in items(members(claims).get("delegate_payload")) if isinstance(each, dict)]
    strangers = len(set(values) - used)
    problem = [Line(1, "disclosures", f"{strangers} do not belong to the token", is_problem=True)] if strangers else []
    return {**members(claims), **(inner[0] if inner else {})}, problem


def _with_disclosed(value: Any, values: dict[str, Any], used: set[str], depth: int) -> Any:
    """Replace the digests in a value by what they disclose: `[salt, name, value]` or, in a list, `[salt, value]`."""
    if depth > 2 * _DEEPEST:
        return value
    if isinstance(value, list):
        found = []
        for each in value:
            key = each.get("...") if isinstance(each, dict) else None
            if isinstance(key, str):
                if isinstance(inner := values.get(key), list) and len(inner) == 2 and key not in used:
                    used.add(key)
                    found.append(_with_disclosed(inner[1], values, used, depth + 1))
            else:
                found.append(_with_disclosed(each, values, used, depth + 1))
        return found
    if not isinstance(value, dict):
        return value
    result = {key: _with_disclosed(each, values, used, depth + 1) for key, each in value.items() if key != "_sd"}
    for key in items(value.get("_sd")):
        inner = values.get(key) if isinstance(key, str) else None
        if isinstance(inner, list) and len(inner) == 3 and isinstance(inner[1], str) and key not in used:
            used.add(key)
            result[inner[1]] = _with_disclosed(inner[2], values, used, depth + 1)
    return result


def _signature(whose: str, token: Any) -> list[Line]:
    """Describe a signature, which is not verified: the key is not in the message."""
    if not isinstance(token, str) or not token:
        return [Line(1, f"{whose} signature", "none")]
    if set(token) == {"*"}:
        return [Line(1, f"{whose} signature", "present, masked in the record")]
    parts = jwt_parts(token.partition("~")[0])
    if parts is None:
        return [Line(1, f"{whose} signature", f"present, {len(token):,} characters, not a JWT")]
    header, payload = parts
    key = ", ".join(filter(None, (text(header.get("alg")), f"key {text(header['kid'])}" if "kid" in header else "")))
    words = f"present ({key or 'no algorithm'}), not verified"
    about = [(name, payload.get(claim)) for name, claim in (("issuer", "iss"), ("audience", "aud"))]
    return [Line(1, f"{whose} signature", words), *fields(2, *about, ("expires", _time(payload.get("exp"))))]


def _until(value: Any) -> str:
    return f"until {shown}" if (shown := text(value)) else ""


def _time(value: Any) -> str:
    """Return seconds since 1970 as a time, and other values as they are."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return text(value)
    try:
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return text(value)


def _encoded(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
