"""Rules about the interfaces of an agent: their bindings, versions and order, and how the two views of a card agree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.findings.card.facts import Facts
from inspector.findings.card.valid_examples import interface, old_interface, with_interface
from inspector.findings.rule_set import ERROR, HINT, SINCE_0_2, V1, WARNING, RuleSet, Violation
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.dialects.card_view import Interface
from inspector.protocol.dialects.registry import DIALECTS, version_of
from inspector.protocol.dialects.traits import VERSIONS
from inspector.protocol.pointer import pointer

RULE_SET = RuleSet[Facts](versions=SINCE_0_2)

_NICKNAME = re.compile(r"jsonrpc(20?)?|json|rpc|rest|https?|httpjson|jsonhttp|httprest|grpc")
"""Common names of the core bindings, in lower case and without punctuation."""


@RULE_SET.rule(
    "CARD-049",
    WARNING,
    "An interface is declared twice",
    section="1.0 §8.3.1",
    requirement="Each interface is one combination of url, binding, version and tenant.",
    remedy="Take one of the two away.",
    failing={"supportedInterfaces": [interface(), interface()]},
)
def declared_twice(card: Facts) -> Iterator[Violation]:
    known: set[tuple[str, ...]] = set()
    for one in card.interfaces:
        what = (one.url.rstrip("/"), one.binding.upper(), one.version, one.tenant)
        if what in known:
            yield Violation(pointer(*one.steps), f"{one.binding} at {one.url} again")
        elif one.steps:  # the main url of an older card is listed among the others on purpose
            known.add(what)


@RULE_SET.rule(
    "CARD-050",
    WARNING,
    "The binding is none of those that the specification names",
    section="1.0 §4.4.6, §5.8; 0.3 §5.5.5",
    requirement="The core ones are JSONRPC, GRPC and HTTP+JSON; custom bindings SHOULD be identified by a URI.",
    remedy="Spell it as the specification does: clients compare it letter by letter.",
    failing=with_interface(protocolBinding="REST"),
    passing=with_interface(protocolBinding="https://example.com/bindings/queue/v1"),
)
def unknown_binding(card: Facts) -> Iterator[Violation]:
    for one in card.interfaces:
        if one.binding in BINDINGS or ":" in one.binding or one.lacks & {"protocolBinding", "transport"}:
            continue
        nickname = re.sub(r"[^a-z0-9]", "", one.binding[:40].lower())
        if not card.layout.open_bindings or not one.binding or _NICKNAME.fullmatch(nickname):
            yield Violation(one.binding_at, repr(one.binding) if one.binding else "empty")


@RULE_SET.rule(
    "CARD-051",
    HINT,
    "A transport that the specification does not name",
    section="0.3 §5.5.5",
    requirement="Additional transport values MAY be used for future extensions.",
    remedy="Nothing to mend if it is meant: only clients that know it can use this interface.",
    versions=("0.3", "0.2"),
    failing={"preferredTransport": "CARRIER-PIGEON"},
)
def own_transport(card: Facts) -> Iterator[Violation]:
    for one in card.interfaces:
        name = re.sub(r"[^a-z0-9]", "", one.binding[:40].lower())
        if one.binding and one.binding not in BINDINGS and not _NICKNAME.fullmatch(name):
            yield Violation(one.binding_at, repr(one.binding))


_VERSION = re.compile(r"[0-9]{1,6}\.[0-9]{1,6}")
_WITH_PATCH = re.compile(r"[0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6}")


@RULE_SET.rule(
    "CARD-052",
    WARNING,
    "The protocol version of an interface has a patch number",
    section="1.0 §3.6",
    requirement="Patch version numbers SHOULD NOT be used in requests, responses and Agent Cards.",
    remedy="Write Major.Minor, such as 1.0; some servers compare it letter by letter.",
    versions=V1,
    failing=with_interface(protocolVersion="1.0.0"),
)
def patch_number(card: Facts) -> Iterator[Violation]:
    for one in card.interfaces:
        if _WITH_PATCH.fullmatch(one.version):
            yield Violation(pointer(*one.steps, "protocolVersion"), one.version)


@RULE_SET.rule(
    "CARD-053",
    ERROR,
    "The protocol version is no version",
    section="1.0 §3.6, 0.3 §5.5",
    requirement="The protocol version is identified by Major.Minor.",
    remedy="Write Major.Minor, such as 1.0 (0.2 and 0.3 write the patch number too).",
    failing=with_interface(protocolVersion="latest"),
)
def no_version(card: Facts) -> Iterator[Violation]:
    for where, version in card.versions():
        known = _VERSION.fullmatch(version) or _WITH_PATCH.fullmatch(version)
        if not known and version.lower() not in DIALECTS:
            yield Violation(where, repr(version))


@RULE_SET.rule(
    "CARD-054",
    WARNING,
    "A protocol version that was never published",
    section="1.0 §3.6",
    requirement="The published versions are 0.1, 0.2, 0.3 and 1.0.",
    remedy="Write the version that the agent implements.",
    failing=with_interface(protocolVersion="4.2"),
)
def unpublished_version(card: Facts) -> Iterator[Violation]:
    for one in card.interfaces:
        if _VERSION.match(one.version) and not version_of(one.version):
            yield Violation(pointer(*one.steps, "protocolVersion"), one.version)


@RULE_SET.rule(
    "CARD-055",
    ERROR,
    "The card claims a protocol version whose shape it does not have",
    section="1.0 Appendix A.2",
    requirement="From 1.0 on interfaces are declared in supportedInterfaces, each with its own version.",
    remedy="Declare supportedInterfaces, or the version whose shape the card has.",
    versions=("0.3", "0.2"),
    failing={"protocolVersion": "1.0"},
)
def other_shape(card: Facts) -> Iterator[Violation]:
    version = card.value.get("protocolVersion")
    claimed = version_of(version) if isinstance(version, str) else ""
    if claimed and not VERSIONS[claimed].card.main_url:
        yield Violation("/protocolVersion", f"{version} in a card of the shape of {card.version}")


@RULE_SET.rule(
    "CARD-056",
    HINT,
    "An older interface is preferred to a newer one",
    section="1.0 §8.3.1",
    requirement="The first entry in supportedInterfaces represents the preferred interface.",
    remedy="List the newest protocol version first, unless this is meant.",
    versions=V1,
    failing={"supportedInterfaces": [interface(protocolVersion="0.3"), interface()]},
)
def older_first(card: Facts) -> Iterator[Violation]:
    versions = [version_of(one.version) for one in card.interfaces]
    newer = next((one for one in versions if one and not VERSIONS[one].outdated), "")
    if newer and versions[0] and VERSIONS[versions[0]].outdated:
        yield Violation(pointer(*card.interfaces[0].steps, "protocolVersion"), f"{versions[0]} before 1.0")


@RULE_SET.rule(
    "CARD-057",
    HINT,
    "The preferred transport is not said",
    section="0.3 §5.6.1 against the definition",
    requirement="The text says that preferredTransport MUST be present; the definition gives it the default JSONRPC.",
    remedy="Say it.",
    versions=("0.3",),
    failing={"preferredTransport": None},
)
def no_preferred_transport(card: Facts) -> Iterator[Violation]:
    if card.value.get("preferredTransport") is None:
        yield Violation("/preferredTransport", "missing: JSONRPC is assumed")


def _listed_at_main_url(card: Facts) -> list[Interface]:
    main = next((one for one in card.interfaces if not one.steps), None)
    return [one for one in card.interfaces if one.steps and main and one.url.rstrip("/") == main.url.rstrip("/")]


@RULE_SET.rule(
    "CARD-058",
    ERROR,
    "The preferred transport is not the one at the main url",
    section="0.3 §5.6.1, §5.6.4",
    requirement="The transport protocol available at the main url MUST match the preferredTransport field.",
    remedy="Make preferredTransport and the entry of additionalInterfaces for this url agree.",
    versions=("0.3", "0.2"),
    failing={"preferredTransport": "GRPC"},
)
def other_transport(card: Facts) -> Iterator[Violation]:
    preferred = card.value.get("preferredTransport", "JSONRPC")
    listed = _listed_at_main_url(card)
    named = listed and all("transport" not in one.lacks for one in listed)
    if named and isinstance(preferred, str) and all(one.binding.upper() != preferred.upper() for one in listed):
        yield Violation("/preferredTransport", f"{preferred}, but {listed[0].binding} is listed at {listed[0].url}")


@RULE_SET.rule(
    "CARD-059",
    WARNING,
    "The main url is not among the additional interfaces",
    section="0.3 §5.6.2",
    requirement="SHOULD include an entry matching the main url and preferredTransport.",
    remedy="List it as well: some clients look at the list alone.",
    versions=("0.3",),
    failing={"additionalInterfaces": [old_interface(url="https://agent.example.com/other")]},
)
def main_not_listed(card: Facts) -> Iterator[Violation]:
    url, others = card.value.get("url"), card.value.get("additionalInterfaces")
    if others and isinstance(url, str) and not _listed_at_main_url(card):
        yield Violation("/additionalInterfaces", f"{url} is not listed")


@RULE_SET.rule(
    "CARD-060",
    HINT,
    "One url is declared for different transports",
    section="0.3 §5.6.4 against §5.6.2",
    requirement="The same URL MUST NOT declare conflicting transports; yet URLs MAY be reused for several.",
    remedy="Nothing to mend if the endpoint tells them apart.",
    versions=("0.3",),
    failing={"additionalInterfaces": [old_interface(), old_interface(transport="GRPC")]},
)
def several_at_one_url(card: Facts) -> Iterator[Violation]:
    known: dict[str, str] = {}
    for one in card.interfaces:
        # JSON-RPC and HTTP+JSON often share an endpoint: their paths differ.
        first = known.setdefault(one.url, one.binding) if one.steps else one.binding
        if first != one.binding and {first, one.binding} != {"JSONRPC", "HTTP+JSON"}:
            yield Violation(one.binding_at, f"{one.binding} at the url of {first}")


@RULE_SET.rule(
    "CARD-062",
    WARNING,
    "Both views of a card of two protocol versions say different things",
    section="1.0 Appendix A.2",
    requirement="Clients of either protocol version read their own members of the card.",
    remedy="Make url the address of an interface that supportedInterfaces lists.",
    versions=V1,
    failing={"url": "https://elsewhere.example.com/a2a", "protocolVersion": "0.3"},
    passing={"url": "https://agent.example.com/a2a", "protocolVersion": "0.3"},
)
def views_differ(card: Facts) -> Iterator[Violation]:
    url = card.value.get("url")
    if card.hybrid and isinstance(url, str) and all(one.url.rstrip("/") != url.rstrip("/") for one in card.interfaces):
        yield Violation("/url", f"{url} is in no entry of supportedInterfaces")
