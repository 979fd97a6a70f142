"""AP2, the Agent Payments Protocol 0.1 and 0.2: mandates and receipts in data parts, as amount, merchant and expiry."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from inspector.protocol.extensions.outline import Line, Outline, fields, items, members, outline, text
from inspector.protocol.extensions.sd_jwt import read_chain
from inspector.protocol.jsonvalue import is_number
from inspector.protocol.unverified_jwt import jwt_parts

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


def describe(value: Any) -> Outline:
    """Return the mandates and receipts in the data of a part."""
    titles, lines = [], []
    for key, content in members(value).items():
        if key.startswith(PREFIX):
            title, of_content = _object(key, content)
            titles.append(title)
            lines += [Line(0, title.partition(",")[0]), *of_content]
    return outline("; ".join(titles), lines)


def name_of(key: str) -> str:
    """Return what an object of AP2 is called."""
    return _NAMES.get(key, text(key.removeprefix(PREFIX)))


def _object(key: str, content: Any) -> tuple[str, list[Line]]:
    name = name_of(key)
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
    expires = time_of(found.get("exp"))
    lines = fields(
        1,
        ("type", found.get("vct")),
        ("merchant", payee.get("name")),
        ("website", payee.get("website")),
        ("total", total),
        ("instrument", members(found.get("payment_instrument")).get("description")),
        ("status", found.get("status", found.get("payment_status"))),
        ("error", found.get("error")),
        ("made", time_of(found.get("iat"))),
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
    return _titled(name, text(payee.get("name")), total, _until(expires)), lines


def _tokens(name: str, content: str) -> tuple[str, list[Line]]:
    """Describe a chain of SD-JWTs; the last is the mandate itself, those before it authorize its signer."""
    if set(content) == {"*"}:
        return name, [Line(1, "token", "masked in the record")]
    tokens = read_chain(content)
    title, lines = name, []
    for number, token in enumerate(tokens[:_DEEPEST], 1):
        lines += [Line(1, "token", f"{number} of {len(tokens)}")] if len(tokens) > 1 else []
        if token is None:
            lines.append(Line(1, "token", "not an SD-JWT", is_problem=True))
            continue
        title, found = _claims(name, token.mandate)
        lines += [*found, *_signature("issuer", token.jwt)]
    if not tokens:
        lines.append(Line(1, "token", "not an SD-JWT", is_problem=True))
    return title, lines


def _signature(whose: str, token: Any) -> list[Line]:
    """Describe a signature; whether it is valid is found out when the message is received, see `findings/mandates`."""
    if not isinstance(token, str) or not token:
        return [Line(1, f"{whose} signature", "none")]
    if set(token) == {"*"}:
        return [Line(1, f"{whose} signature", "present, masked in the record")]
    parts = jwt_parts(token.partition("~")[0])
    if parts is None:
        return [Line(1, f"{whose} signature", f"present, {len(token):,} characters, not a JWT")]
    header, payload = parts
    key = ", ".join(filter(None, (text(header.get("alg")), f"key {text(header['kid'])}" if "kid" in header else "")))
    words = f"present ({key or 'no algorithm'})"
    about = [(name, payload.get(claim)) for name, claim in (("issuer", "iss"), ("audience", "aud"))]
    return [Line(1, f"{whose} signature", words), *fields(2, *about, ("expires", time_of(payload.get("exp"))))]


def _until(value: Any) -> str:
    return f"until {shown}" if (shown := text(value)) else ""


def time_of(value: Any) -> str:
    """Return seconds since 1970 as a time, and other values as they are."""
    if not is_number(value):
        return text(value)
    try:
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return text(value)
