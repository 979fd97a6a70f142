"""Interfaces that the card does not declare, but that may be the agent's: at other URLs, or with other versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from inspector.protocol.bindings.base import Binding
from inspector.protocol.card import AgentInterface
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import ALL, supports_binding
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice, Option
from inspector.session.doctor.steps import Proposal, protocol_name
from inspector.text.host import authority
from inspector.wire.client.credentials import origin
from inspector.wire.endpoint import endpoint_of

_WELL_KNOWN = "/.well-known/"
_VERSION_PATH = "/v1"
"""The beginning of the paths of 0.2 and 0.3 over HTTP+JSON. If the URL on the card ends with it, it is doubled."""


class Candidate(NamedTuple):
    """An interface to try: its location in the name of the step, what is observed if it responds, the proposal."""

    where: str
    observed: str
    proposal: Proposal


def base_of(card_url: str) -> str:
    """Return the URL below which a card is served: `http://proxy/agents/one` for a card at its well-known path."""
    return card_url.partition(_WELL_KNOWN)[0].rstrip("/") if _WELL_KNOWN in card_url else ""


def at(netloc: str, scheme: str, prefix: str, url: str) -> str:
    """Return the URL of an interface with another host, scheme and path prefix; only `netloc` without a scheme."""
    if "://" not in url:
        return netloc
    parts = urlsplit(url)
    return urlunsplit((scheme, netloc, f"{prefix}{parts.path}", parts.query, ""))


def other_places(option: Option, typed: str, card_url: str) -> Iterator[Candidate]:
    """Yield an interface below the URL of the card, at the origin that the user typed, and there with its own port."""
    endpoint, place = endpoint_of(typed), endpoint_of(option.interface.url)
    if option.dialect is None or option.binding is None or endpoint is None or place is None:
        return
    parts = urlsplit(typed)
    origin, own_port = parts.netloc.rpartition("@")[2], authority(endpoint.host, place.port)
    prefix = urlsplit(base_of(card_url)).path
    places = [(origin, prefix), (origin, ""), (own_port, prefix), (own_port, "")]
    urls = dict.fromkeys(at(netloc, parts.scheme, path, option.interface.url) for netloc, path in places)
    for url in urls:
        if url != option.interface.url:
            why = "at the origin of the agent URL that you entered"
            yield _moved(option.interface, option.dialect, option.binding, url, why)


def without_doubled_path(option: Option) -> Iterator[Candidate]:
    """Yield an interface without the path at the end of its URL that its protocol version adds over HTTP+JSON."""
    if option.dialect is None or option.binding is None or option.binding.name != "HTTP+JSON":
        return
    url = option.interface.url.rstrip("/")
    if url.endswith(_VERSION_PATH) and option.dialect.routes[Operation.SEND].path.startswith(_VERSION_PATH):
        why = f"without the {_VERSION_PATH} that the protocol version adds"
        yield _moved(option.interface, option.dialect, option.binding, url.removesuffix(_VERSION_PATH), why)


def _moved(interface: AgentInterface, dialect: Dialect, binding: Binding, url: str, why: str) -> Candidate:
    """Return an interface at another URL; `why` is the reason to try it."""
    choice = Choice(interface.model_copy(update={"url": url}), dialect, binding, why)
    declared, responded = _difference(interface.url, url)
    reason = f"the card has {declared}, but the interface responded at {responded}"
    return Candidate(f" at {_place(url)}", f"{protocol_name(choice)} at {url}", Proposal(choice, reason))


def _place(url: str) -> str:
    """Return where a URL is: its host and port, and its path if it has one."""
    return urlsplit(url).netloc + urlsplit(url).path.rstrip("/") if "://" in url else url


def _difference(declared: str, other: str) -> tuple[str, str]:
    """Return the first parts in which two URLs differ: hosts, schemes, or else whole URLs."""
    one, two = endpoint_of(declared), endpoint_of(other)
    if one is None or two is None or one.host != two.host:
        return (one.host if one else declared), (two.host if two else other)
    return declared, other


def other_versions(option: Option, binding: Binding) -> Iterator[Candidate]:
    """Yield an interface with every protocol version that the card does not declare for it."""
    for dialect in ALL:
        if dialect is not option.dialect and supports_binding(dialect, binding.name):
            choice = Choice(option.interface, dialect, binding, "it responded to the doctor")
            version = option.interface.protocol_version or "no version"
            reason = f"the card declares {version}, but the interface responded as {protocol_name(choice)}"
            yield Candidate("", protocol_name(choice), Proposal(choice, reason))


def bypass(option: Option, card_url: str) -> str:
    """Return that calls to an interface do not pass through the server of the card; `""` if they do.

    gRPC is left out, because most agents have a port of its own for it.
    """
    base = base_of(card_url)
    if not base or option.binding is None or option.binding.name == "GRPC":
        return ""
    parts, own = urlsplit(base), urlsplit(option.interface.url)
    inside = f"{own.path}/".startswith(f"{parts.path}/")
    if origin(option.interface.url) == origin(base) and inside:
        return ""
    return f"not below {base}, where the card is: calls do not pass through a proxy there"
