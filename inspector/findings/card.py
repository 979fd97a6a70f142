"""What is wrong with a card, as far as the card itself tells."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from inspector.findings.finding import Finding
from inspector.findings.rules import broken
from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.selection import options, select

_REQUIRED_IN_0_1 = ("name", "url", "version", "capabilities", "skills")
_ADDED_IN_0_2 = ("description", "defaultInputModes", "defaultOutputModes")
_REQUIRED_IN_1_0 = (
    "name",
    "description",
    "supportedInterfaces",
    "version",
    "capabilities",
    "defaultInputModes",
    "defaultOutputModes",
    "skills",
)
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "1.0": _REQUIRED_IN_1_0,
    "opvs": _REQUIRED_IN_1_0,
    "0.3": (*_REQUIRED_IN_0_1, *_ADDED_IN_0_2, "protocolVersion"),
    "0.2": (*_REQUIRED_IN_0_1, *_ADDED_IN_0_2),  # protocolVersion too from 0.2.5 on, which nothing else tells
    "0.1": _REQUIRED_IN_0_1,
}
_REQUIRED_OF_INTERFACE = ("url", "protocolBinding", "protocolVersion")
_REQUIRED_OF_SKILL = ("id", "name", "description", "tags")
_REQUIRED_OF_SKILL_IN_0_1 = ("id", "name")


def check_card(
    value: Json, card: AgentCard | Unreadable, generation: str, *, url: str = "", content_type: str = ""
) -> tuple[Finding, ...]:
    """Check a card as served (`value`) and as read; `url` and `content_type` say how it came, where it came by HTTP."""
    if isinstance(card, Unreadable):
        return (broken("CARD-002", card.why),)
    findings = [*_missing(value, generation)]
    if url and content_type.partition(";")[0].strip().lower() != "application/json":
        findings.append(broken("CARD-003", f"served as {content_type or 'nothing in particular'}"))
    findings += _addresses(value, card, url)
    if select(card) is None:
        why = "; ".join(option.reason for option in options(card)) or "the card declares no interface"
        findings.append(broken("CARD-005", why, "/supportedInterfaces" if "supportedInterfaces" in value else ""))
    return tuple(findings)


def _missing(value: Json, generation: str) -> list[Finding]:
    findings = [_absent("", name) for name in _REQUIRED[generation] if value.get(name) is None]
    of_skill = _REQUIRED_OF_SKILL_IN_0_1 if generation == "0.1" else _REQUIRED_OF_SKILL
    lists: list[tuple[str, tuple[str, ...]]] = [("skills", of_skill)]
    if "supportedInterfaces" in _REQUIRED[generation]:
        lists.append(("supportedInterfaces", _REQUIRED_OF_INTERFACE))
    for member, required in lists:
        for number, item in enumerate(value.get(member) or ()):
            findings += [_absent(f"/{member}/{number}", name) for name in required if item.get(name) is None]
    return findings


def _absent(where: str, name: str) -> Finding:
    return broken("CARD-001", f"{name} is missing", f"{where}/{name}")


def _addresses(value: Json, card: AgentCard, served_at: str) -> list[Finding]:
    """Name interfaces at a wildcard address, or at loopback on a card that came from elsewhere."""
    from_here = _is_local(urlsplit(served_at).hostname or "") or not served_at
    findings: list[Finding] = []
    for interface in card.supported_interfaces:
        host = _host(interface.url)
        if host in ("0.0.0.0", "::") or (_is_local(host) and not from_here):  # noqa: S104 - compared, not bound
            findings.append(broken("CARD-004", interface.url, _pointer_to(interface.url, value)))
    return findings


def _pointer_to(url: str, value: Json) -> str:
    """Return where a card has the url of an interface, in the shape of either generation."""
    for name in ("supportedInterfaces", "additionalInterfaces"):
        listed = value.get(name)
        for number, item in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(item, dict) and item.get("url") == url:
                return f"/{name}/{number}/url"
    return "/url"


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
