"""What is wrong with a card, as far as the card itself tells."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from inspector.findings.finding import Finding
from inspector.findings.rules import broken
from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.selection import options, select

_REQUIRED = {
    "1.0": (
        "name",
        "description",
        "supportedInterfaces",
        "version",
        "capabilities",
        "defaultInputModes",
        "defaultOutputModes",
        "skills",
    ),
    "0.3": (
        "name",
        "description",
        "url",
        "protocolVersion",
        "version",
        "capabilities",
        "defaultInputModes",
        "defaultOutputModes",
        "skills",
    ),
}
_REQUIRED_OF_INTERFACE = ("url", "protocolBinding", "protocolVersion")
_REQUIRED_OF_SKILL = ("id", "name", "description", "tags")


def check_card(
    value: Json, card: AgentCard | Unreadable, generation: str, *, url: str = "", content_type: str = ""
) -> tuple[Finding, ...]:
    """Check a card as served (`value`) and as read; `url` and `content_type` say how it came, where it came by HTTP."""
    if isinstance(card, Unreadable):
        return (broken("CARD-002", card.why),)
    findings = [*_missing(value, generation)]
    if url and content_type.partition(";")[0].strip().lower() != "application/json":
        findings.append(broken("CARD-003", f"served as {content_type or 'nothing in particular'}"))
    findings += _addresses(card, url)
    if select(card) is None:
        why = "; ".join(option.reason for option in options(card)) or "the card declares no interface"
        findings.append(broken("CARD-005", why, "/supportedInterfaces"))
    return tuple(findings)


def _missing(value: Json, generation: str) -> list[Finding]:
    findings = [_absent("", name) for name in _REQUIRED[generation] if value.get(name) is None]
    lists: list[tuple[str, tuple[str, ...]]] = [("skills", _REQUIRED_OF_SKILL)]
    if generation == "1.0":
        lists.append(("supportedInterfaces", _REQUIRED_OF_INTERFACE))
    for member, required in lists:
        for number, item in enumerate(value.get(member) or ()):
            findings += [_absent(f"/{member}/{number}", name) for name in required if item.get(name) is None]
    return findings


def _absent(where: str, name: str) -> Finding:
    return broken("CARD-001", f"{name} is missing", f"{where}/{name}")


def _addresses(card: AgentCard, served_at: str) -> list[Finding]:
    """Name interfaces at a wildcard address, or at loopback on a card that came from elsewhere."""
    from_here = _is_local(urlsplit(served_at).hostname or "") or not served_at
    findings: list[Finding] = []
    for number, interface in enumerate(card.supported_interfaces):
        host = _host(interface.url)
        if host in ("0.0.0.0", "::") or (_is_local(host) and not from_here):  # noqa: S104 - compared, not bound
            findings.append(broken("CARD-004", interface.url, f"/supportedInterfaces/{number}/url"))
    return findings


def _host(url: str) -> str:
    try:
        return urlsplit(url if "://" in url else f"//{url}").hostname or ""
    except ValueError:
        return ""


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
