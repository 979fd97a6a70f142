"""Where a card may be, and what an answer says about it (1.0 sections 8.2 and 14.3, 0.3 section 5.3)."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import read_card
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import parse, type_name
from inspector.protocol.model import Unreadable

WELL_KNOWN = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""The card's paths: of 0.3 and 1.0 first, of 0.1 and 0.2 second."""

REDIRECTS = frozenset({301, 302, 303, 307, 308})

_HTTPS = 443
_MISREAD = "a card that cannot be read: "


@dataclass(frozen=True, slots=True)
class FoundCard:
    """A card, the bytes it was served as and the generation whose shape it has."""

    card: AgentCard
    dialect: Dialect
    raw: bytes


def local_path(reference: str) -> Path | None:
    """Return the path that a reference names on this machine, or None where it is a url or a host."""
    try:
        if reference.startswith("file://"):
            return Path(unquote(urlsplit(reference).path))
        if "://" in reference:
            return None
        path = Path(reference).expanduser()
        looks_like_a_path = reference.startswith((".", "/", "~")) or reference.endswith(".json")
        return path if looks_like_a_path or path.is_file() else None
    except (ValueError, OSError, RuntimeError):  # no url, longer than any path, of a user that is not there
        return Path(reference) if reference.startswith((".", "/", "~", "file://")) else None


def normalise(reference: str) -> str:
    """Complete a reference to a url: https, but http on this machine, on bare addresses and where a port is given.

    A reference that can be no url is completed all the same, for the client to refuse.
    """
    if "://" in reference:
        return reference
    if _is_address(reference) and ":" in reference:
        reference = f"[{reference}]"
    try:
        parts = urlsplit(f"//{reference}")
        near = _is_near(parts.hostname or "", parts.port)
    except ValueError:
        near = False
    return f"{'http' if near else 'https'}://{reference}"


def _is_near(host: str, port: int | None) -> bool:
    if host == "localhost" or host.endswith((".localhost", ".local")) or _is_address(host):
        return port != _HTTPS
    return port is not None and port != _HTTPS


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def candidates(reference: str) -> list[str]:
    """List the urls to try: the well-known ones under the path, those at the root, then the url itself.

    A url that names a JSON file or a well-known path is a card's url and is tried alone; so is what is no url.
    """
    url = normalise(reference)
    try:
        parts = urlsplit(url)
    except ValueError:
        return [url]
    if parts.path.endswith(".json") or "/.well-known/" in parts.path:
        return [url]
    path = parts.path.rstrip("/")
    folders = [path, ""] if path else [""]
    tried = [
        urlunsplit((parts.scheme, parts.netloc, folder + known, parts.query, ""))
        for folder in folders
        for known in WELL_KNOWN
    ]
    return [*tried, urlunsplit((parts.scheme, parts.netloc, parts.path or "/", parts.query, ""))]


def read_answer(status: int, content_type: str, raw: bytes) -> FoundCard | str:
    """Judge one answer: the card, or in a few words why it is none."""
    if status != 200:
        return {401: "401, credentials are demanded", 403: "403, the credentials are not enough"}.get(
            status, f"{status}"
        )
    return read_bytes(raw, content_type)


def read_bytes(raw: bytes, content_type: str = "application/json") -> FoundCard | str:
    """Read a card from bytes, or say in a few words why they hold none."""
    value = parse(raw)
    if isinstance(value, Unreadable):
        served = f" served as {content_type}" if content_type and "json" not in content_type else ""
        return f"{value.why}{served}"
    if not isinstance(value, dict):
        return f"JSON, but {type_name(value)} instead of a card"
    if not {"name", "skills", "capabilities", "supportedInterfaces", "url"} & value.keys():
        return "JSON, but without any member of a card"
    card, dialect = read_card(value)
    if isinstance(card, Unreadable):
        return f"{_MISREAD}{card.why}"
    return FoundCard(card, dialect, raw)


def misread(outcome: str) -> str:
    """Return what keeps a card from being read, as `read_bytes` tells it; `""` for an answer that is no card at all."""
    return outcome.removeprefix(_MISREAD) if outcome.startswith(_MISREAD) else ""


def read_file(path: Path) -> FoundCard:
    """Read a card from a file; raises `FaultError` with the reason where that fails."""
    found = read_bytes(read_raw(path))
    if isinstance(found, str):
        seen = f"The file {path} holds no card: {found}."
        raise FaultError(Fault(Whose.YOURS, FaultCode.CARD_INVALID, seen, "A card is one JSON object in UTF-8."))
    return found


def read_raw(path: Path) -> bytes:
    """Return the bytes of a card file; raises `FaultError` with the reason where that fails."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FaultError(
            Fault(
                Whose.YOURS,
                FaultCode.CARD_NOT_FOUND,
                f"The card file {path} could not be read: {error.strerror or error}.",
                "Give the path of a JSON file, or a url that starts with http:// or https://.",
            )
        ) from error


def not_found(reference: str, tries: list[tuple[str, str]], statuses: set[int]) -> Fault:
    """Say that no card was found: what each try brought, and what to do."""
    seen = "; ".join(f"{url}: {why}" for url, why in tries)
    if statuses & {401, 403}:
        return Fault(
            Whose.YOURS,
            FaultCode.AUTH_FAILED if 403 in statuses else FaultCode.CREDENTIALS_MISSING,
            f"The card of {reference} is protected ({seen}).",
            "Give credentials: --bearer TOKEN or --header 'Name: value'.",
        )
    if any(misread(why) for _, why in tries):
        return Fault(
            Whose.AGENT,
            FaultCode.CARD_INVALID,
            f"The card of {reference} is malformed ({seen}).",
            "Typed clients refuse it; the member named there has to be corrected.",
        )
    return Fault(
        Whose.AGENT,
        FaultCode.CARD_NOT_FOUND,
        f"No card at {reference} ({seen}).",
        "Is this the agent's base url? Its documentation or log says where the card is served.",
    )
