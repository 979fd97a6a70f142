"""The table of the known extensions, and the search for their data in a payload of any version and binding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol.extensions import a2ui, ap2, traceability
from inspector.protocol.extensions.outline import Line, Outline, fields, members, outline, text
from inspector.protocol.http_fields import without_parameters
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer
from inspector.text.units import counted

Describe: TypeAlias = Callable[[Any], Outline]

_SAMPLES = "github.com/a2aproject/a2a-samples"
TIMESTAMP = f"{_SAMPLES}/samples/extensions/timestamp/v1"
TRACEABILITY = f"{_SAMPLES}/extensions/traceability/v1"
PASSPORT = f"https://{_SAMPLES}/tree/main/samples/python/extensions/secure-passport"
AGP = f"https://{_SAMPLES}/tree/main/extensions/agp"
A2UI = "https://a2ui.org/a2a-extension/a2ui/"
AP2 = "https://github.com/google-agentic-commerce/ap2/"
NUMBERED = "urn:a2a-inspect:extension:numbered-events:1"

_MOST_USES = 100
_DEEPEST = 40
_MOST_NODES = 100_000


@dataclass(frozen=True, slots=True)
class KnownExtension:
    """A known extension.

    `uri` is its URI, or the beginning of it if each version has its own. `revision` is the version and the date of the
    specification, `place` is where its data appears, `""` if it is not described. `keys` are the members of metadata
    that contain its data. With `has_signatures`, its data has signatures, which are verified when it is received.
    """

    uri: str
    name: str
    revision: str
    place: str
    describe: Describe | None = None
    keys: tuple[str, ...] = ()
    has_signatures: bool = False

    def identifier(self, uris: Iterable[str]) -> str:
        """Return the first of these URIs that is one of the extension, else its own."""
        return next((uri for uri in uris if known(uri) is self), self.uri)


@dataclass(frozen=True, slots=True)
class Use:
    """The data of a known extension in a payload: where it is, and what it means."""

    extension: KnownExtension
    pointer: str
    value: Json

    @property
    def place(self) -> str:
        """Return the JSON pointer of the object or the metadata that has the data, without the long name in it."""
        return self.pointer.rpartition("/")[0] if "/metadata/" in self.pointer else self.pointer

    @property
    def outline(self) -> Outline:
        """Return what the data means."""
        return self.extension.describe(self.value) if self.extension.describe else Outline("", ())


def _timestamp(value: Any) -> Outline:
    shown = text(value)
    problem = _problem_of_time(value)
    lines = [Line(0, "created", shown)]
    lines += [Line(0, "problem", problem, is_problem=True)] if problem else []
    return Outline(f"created {shown.partition('T')[2] or shown}" if shown else "no time", tuple(lines))


def _problem_of_time(value: Any) -> str:
    """Return why a value is not a timestamp: RFC 3339, in UTC, with seconds."""
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return "not a time of RFC 3339"
    offset = moment.utcoffset()
    if offset is None:
        return "it has no time zone, expected UTC"
    return f"the time zone is {moment.tzname()}, expected UTC" if offset else ""


def _passport(value: Any) -> Outline:
    found = members(value)
    state = found.get("state")
    signature, count = found.get("signature"), len(members(state))
    signed = f"present, {len(signature):,} characters" if isinstance(signature, str) and signature else ""
    lines = fields(0, ("client", found.get("clientId")), ("session", found.get("sessionId")))
    lines.append(Line(0, "signature", signed or "none"))
    lines += [Line(0, "state", counted(count, "member"))]
    lines += fields(1, *members(state).items())
    for name in ("clientId", "state"):
        if name not in found:
            lines.append(Line(0, "problem", f"{name} is missing", is_problem=True))
    client = text(found.get("clientId")) or "no client"
    return outline(f"passport of {client}, {'signed' if signed else 'not signed'}", lines)


def _number(value: Any) -> Outline:
    return Outline("", (Line(0, "event", text(value)),))


KNOWN = (
    KnownExtension(A2UI, "A2UI", "0.8 to 0.10, 2026-05", "data parts of the type application/a2ui+json", a2ui.describe),
    KnownExtension(
        AP2,
        "AP2",
        "0.1 (2025-09) and 0.2 (2026-04)",
        "data parts with members named ap2.…",
        ap2.describe,
        has_signatures=True,
    ),
    KnownExtension(
        f"https://{TRACEABILITY}",
        "Traceability",
        "v1, 2025-09",
        "metadata of messages and artifacts",
        traceability.describe,
        (f"{TRACEABILITY}/traceability", f"https://{TRACEABILITY}/traceability", f"https://{TRACEABILITY}"),
    ),
    KnownExtension(
        PASSPORT,
        "Secure Passport",
        "1.0.0, 2025-11",
        "metadata of messages",
        _passport,
        (PASSPORT,),
        has_signatures=True,
    ),
    KnownExtension(
        f"https://{TIMESTAMP}",
        "Timestamps",
        "v1, 2025-09",
        "metadata of messages and artifacts",
        _timestamp,
        (f"{TIMESTAMP}/timestamp", f"https://{TIMESTAMP}/timestamp", f"https://{TIMESTAMP}"),
    ),
    KnownExtension(AGP, "Agent Gateway Protocol", "1.0.0, 2025-11", ""),
    KnownExtension(NUMBERED, "Numbered events", "1, of the mock agent", "metadata of events", _number, (NUMBERED,)),
)
"""The known extensions, those with the most informative data first."""

_BY_KEY = {key: extension for extension in KNOWN for key in extension.keys}
_A2UI, _AP2, _TRACEABILITY = KNOWN[:3]


def known(uri: str) -> KnownExtension | None:
    """Return the known extension with a URI, None for others."""
    plain = uri.lower().rstrip("/")
    for extension in KNOWN:
        own = extension.uri.lower()
        if plain == own.rstrip("/") or (own.endswith("/") and plain.startswith(own)):
            return extension
    return None


def title_of(uri: str) -> str:
    """Return the name of a known extension with the version in its URI, `""` for an unknown one."""
    extension = known(uri)
    if extension is None:
        return ""
    version = uri.rstrip("/").rpartition("/")[2] if extension.uri.endswith("/") else extension.revision.split(",")[0]
    return f"{extension.name} {version}".strip()


def uses_in(value: Json) -> list[Use]:
    """Return the data of known extensions in a payload, at most 100, in the order of `KNOWN`, then of the payload."""
    found: list[Use] = []
    left = _MOST_NODES
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting and len(found) < _MOST_USES and left > 0:
        left -= 1
        steps, node = waiting.pop()
        if len(steps) > _DEEPEST:
            continue
        if isinstance(node, list):
            waiting += [((*steps, number), each) for number, each in reversed(list(enumerate(node)))]
        elif isinstance(node, dict):
            uses = list(_uses_of(node, steps))
            found += uses
            inside = {use.pointer for use in uses}
            children = [((*steps, name), each) for name, each in node.items() if isinstance(each, dict | list)]
            waiting += [child for child in reversed(children) if pointer(*child[0]) not in inside]
    return sorted(found[:_MOST_USES], key=lambda use: KNOWN.index(use.extension))


def _uses_of(node: dict[str, Any], steps: tuple[str | int, ...]) -> Iterator[Use]:
    """Return the uses in the metadata and the data of an object."""
    metadata = members(node.get("metadata"))
    for key in metadata:
        if key in _BY_KEY:
            yield Use(_BY_KEY[key], pointer(*steps, "metadata", key), metadata[key])
    if "data" not in node:
        return
    data, place = node["data"], (*steps, "data")
    if isinstance(data, dict) and data.keys() == {"data"}:  # a data part of 0.3 in ProtoJSON
        data, place = data["data"], (*place, "data")
    kind = text(node.get("mediaType")) or text(metadata.get("mimeType")) or text(metadata.get("mediaType"))
    if without_parameters(kind) in a2ui.MEDIA_TYPES:
        yield Use(_A2UI, pointer(*place), data)
    elif isinstance(data, dict) and any(key.startswith(ap2.PREFIX) for key in data):
        yield Use(_AP2, pointer(*place), data)
    elif isinstance(data, dict) and isinstance(data.get("steps"), list) and {"trace_id", "traceId"} & data.keys():
        yield Use(_TRACEABILITY, pointer(*place), data)
