"""Rules about the interfaces of a card: bindings, versions, order, and the url for older clients."""

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

_INFORMAL_NAME = re.compile(r"jsonrpc(20?)?|json|rpc|rest|https?|httpjson|jsonhttp|httprest|grpc")
"""Common names of the core bindings, in lower case and without punctuation."""


@RULE_SET.rule(
    "CARD-049",
    WARNING,
    "An interface is declared twice",
    section="1.0 §8.3.1",
    requirement="Each interface is one combination of url, protocolBinding, protocolVersion and tenant.",
    remedy="Remove one of the two entries.",
    failing={"supportedInterfaces": [interface(), interface()]},
)
def declared_twice(card: Facts) -> Iterator[Violation]:
    known: set[tuple[str, ...]] = set()
    for entry in card.interfaces:
        key = (entry.url.rstrip("/"), entry.binding.upper(), entry.version, entry.tenant)
        if key in known:
            yield Violation(pointer(*entry.steps), f"{entry.binding} at {entry.url} is repeated")
        elif entry.steps:  # older cards repeat the main URL in additionalInterfaces intentionally
            known.add(key)


@RULE_SET.rule(
    "CARD-050",
    WARNING,
    "A protocol binding is not defined by the specification",
    section="1.0 §4.4.6, §5.8; 0.3 §5.5.5",
    requirement="The core bindings are JSONRPC, GRPC and HTTP+JSON; custom bindings SHOULD be identified by a URI.",
    remedy="Spell the binding exactly as the specification does: clients compare it character by character.",
    failing=with_interface(protocolBinding="REST"),
    passing=with_interface(protocolBinding="https://example.com/bindings/queue/v1"),
)
def unknown_binding(card: Facts) -> Iterator[Violation]:
    for entry in card.interfaces:
        if entry.binding in BINDINGS or ":" in entry.binding or entry.lacks & {"protocolBinding", "transport"}:
            continue
        informal = re.sub(r"[^a-z0-9]", "", entry.binding[:40].lower())
        if not card.layout.open_bindings or not entry.binding or _INFORMAL_NAME.fullmatch(informal):
            yield Violation(
                entry.binding_at, f"the binding is {entry.binding!r}" if entry.binding else "the binding is empty"
            )


@RULE_SET.rule(
    "CARD-051",
    HINT,
    "A transport is not defined by the specification",
    section="0.3 §5.5.5",
    requirement="Additional transport values MAY be used for future extensions.",
    remedy="Check that the transport is intended: only clients that know it can use this interface.",
    versions=("0.3", "0.2"),
    failing={"preferredTransport": "CARRIER-PIGEON"},
)
def own_transport(card: Facts) -> Iterator[Violation]:
    for entry in card.interfaces:
        name = re.sub(r"[^a-z0-9]", "", entry.binding[:40].lower())
        if entry.binding and entry.binding not in BINDINGS and not _INFORMAL_NAME.fullmatch(name):
            yield Violation(entry.binding_at, f"the transport is {entry.binding!r}")


_VERSION = re.compile(r"[0-9]{1,6}\.[0-9]{1,6}")
_WITH_PATCH = re.compile(r"[0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6}")


@RULE_SET.rule(
    "CARD-052",
    WARNING,
    "The protocol version of an interface has a patch number",
    section="1.0 §3.6",
    requirement="Patch numbers SHOULD NOT be used in requests, responses and Agent Cards.",
    remedy="Write Major.Minor, such as 1.0; some servers compare it character by character.",
    versions=V1,
    failing=with_interface(protocolVersion="1.0.0"),
)
def patch_number(card: Facts) -> Iterator[Violation]:
    for entry in card.interfaces:
        if _WITH_PATCH.fullmatch(entry.version):
            yield Violation(pointer(*entry.steps, "protocolVersion"), f"protocolVersion is {entry.version}")


@RULE_SET.rule(
    "CARD-053",
    ERROR,
    "A protocol version has the wrong format",
    section="1.0 §3.6, 0.3 §5.5",
    requirement="The protocol version is identified by Major.Minor.",
    remedy="Write Major.Minor, such as 1.0 (0.2 and 0.3 include the patch number).",
    failing=with_interface(protocolVersion="latest"),
)
def no_version(card: Facts) -> Iterator[Violation]:
    for where, version in card.versions():
        known = _VERSION.fullmatch(version) or _WITH_PATCH.fullmatch(version)
        if not known and version.lower() not in DIALECTS:
            yield Violation(where, f"protocolVersion is {version!r}")


@RULE_SET.rule(
    "CARD-054",
    WARNING,
    "A protocol version was never published",
    section="1.0 §3.6",
    requirement="The published versions are 0.1, 0.2, 0.3 and 1.0.",
    remedy="Set protocolVersion to the version that the agent implements.",
    failing=with_interface(protocolVersion="4.2"),
)
def unpublished_version(card: Facts) -> Iterator[Violation]:
    for entry in card.interfaces:
        if _VERSION.match(entry.version) and not version_of(entry.version):
            yield Violation(pointer(*entry.steps, "protocolVersion"), f"protocolVersion is {entry.version}")


@RULE_SET.rule(
    "CARD-055",
    ERROR,
    "The card does not have the shape of its protocol version",
    section="1.0 Appendix A.2",
    requirement="Since 1.0, interfaces are declared in supportedInterfaces, each with its own version.",
    remedy="Declare supportedInterfaces, or set protocolVersion to the version whose shape the card has.",
    versions=("0.3", "0.2"),
    failing={"protocolVersion": "1.0"},
)
def other_shape(card: Facts) -> Iterator[Violation]:
    version = card.value.get("protocolVersion")
    claimed = version_of(version) if isinstance(version, str) else ""
    if claimed and not VERSIONS[claimed].card.main_url:
        yield Violation("/protocolVersion", f"protocolVersion is {version}, the card has the shape of {card.version}")


@RULE_SET.rule(
    "CARD-056",
    HINT,
    "The preferred interface has an older protocol version",
    section="1.0 §8.3.1",
    requirement="The first entry of supportedInterfaces is the preferred interface.",
    remedy="List the newest protocol version first, unless this order is intended.",
    versions=V1,
    failing={"supportedInterfaces": [interface(protocolVersion="0.3"), interface()]},
)
def older_first(card: Facts) -> Iterator[Violation]:
    versions = [version_of(entry.version) for entry in card.interfaces]
    newer = next((version for version in versions if version and not VERSIONS[version].outdated), "")
    if newer and versions[0] and VERSIONS[versions[0]].outdated:
        yield Violation(pointer(*card.interfaces[0].steps, "protocolVersion"), f"{versions[0]} is listed before 1.0")


@RULE_SET.rule(
    "CARD-057",
    HINT,
    "preferredTransport is missing",
    section="0.3 §5.6.1 against the definition",
    requirement="preferredTransport MUST be present, but the type definition makes it optional (JSONRPC).",
    remedy="Set preferredTransport to the transport at the main URL.",
    versions=("0.3",),
    failing={"preferredTransport": None},
)
def no_preferred_transport(card: Facts) -> Iterator[Violation]:
    if card.value.get("preferredTransport") is None:
        yield Violation("/preferredTransport", "preferredTransport is missing; clients assume JSONRPC")


def _listed_at_main_url(card: Facts) -> list[Interface]:
    main = next((entry for entry in card.interfaces if not entry.steps), None)
    return [
        entry for entry in card.interfaces if entry.steps and main and entry.url.rstrip("/") == main.url.rstrip("/")
    ]


@RULE_SET.rule(
    "CARD-058",
    ERROR,
    "preferredTransport is not the transport at the main URL",
    section="0.3 §5.6.1, §5.6.4",
    requirement="The transport at the main URL MUST match preferredTransport.",
    remedy="Change preferredTransport or the entry of additionalInterfaces for this URL, so that they match.",
    versions=("0.3", "0.2"),
    failing={"preferredTransport": "GRPC"},
)
def other_transport(card: Facts) -> Iterator[Violation]:
    transport = card.value.get("preferredTransport")
    preferred = "JSONRPC" if transport is None else transport
    listed = _listed_at_main_url(card)
    named = listed and all("transport" not in entry.lacks for entry in listed)
    if named and isinstance(preferred, str) and all(entry.binding.upper() != preferred.upper() for entry in listed):
        yield Violation(
            "/preferredTransport",
            f"preferredTransport is {preferred}, the entry for {listed[0].url} has {listed[0].binding}",
        )


@RULE_SET.rule(
    "CARD-059",
    WARNING,
    "The main URL is missing from additionalInterfaces",
    section="0.3 §5.6.2",
    requirement="additionalInterfaces SHOULD include an entry for the main URL and preferredTransport.",
    remedy="Add an entry for the main URL: some clients only read this list.",
    versions=("0.3",),
    failing={"additionalInterfaces": [old_interface(url="https://agent.example.com/other")]},
)
def main_not_listed(card: Facts) -> Iterator[Violation]:
    url, others = card.value.get("url"), card.value.get("additionalInterfaces")
    if others and isinstance(url, str) and not _listed_at_main_url(card):
        yield Violation("/additionalInterfaces", f"{url} has no entry")


@RULE_SET.rule(
    "CARD-060",
    HINT,
    "One URL is declared for different transports",
    section="0.3 §5.6.4 against §5.6.2",
    requirement="The same URL MUST NOT declare conflicting transports, but URLs MAY be reused for several transports.",
    remedy="Check that the endpoint distinguishes the transports. If it does, no change is needed.",
    versions=("0.3",),
    failing={"additionalInterfaces": [old_interface(), old_interface(transport="GRPC")]},
)
def several_at_one_url(card: Facts) -> Iterator[Violation]:
    known: dict[str, str] = {}
    for entry in card.interfaces:
        # JSON-RPC and HTTP+JSON often share a URL: the paths of their requests differ.
        first = known.setdefault(entry.url, entry.binding) if entry.steps else entry.binding
        if first != entry.binding and {first, entry.binding} != {"JSONRPC", "HTTP+JSON"}:
            yield Violation(entry.binding_at, f"{entry.binding} has the same URL as {first}")


@RULE_SET.rule(
    "CARD-062",
    WARNING,
    "The url for older clients is not in supportedInterfaces",
    section="1.0 Appendix A.2",
    requirement="Clients of each protocol version read the members of their version.",
    remedy="Set url to the URL of an interface in supportedInterfaces.",
    versions=V1,
    failing={"url": "https://elsewhere.example.com/a2a", "protocolVersion": "0.3"},
    passing={"url": "https://agent.example.com/a2a", "protocolVersion": "0.3"},
)
def views_differ(card: Facts) -> Iterator[Violation]:
    url = card.value.get("url")
    if (
        card.hybrid
        and isinstance(url, str)
        and all(entry.url.rstrip("/") != url.rstrip("/") for entry in card.interfaces)
    ):
        yield Violation("/url", f"{url} is not in supportedInterfaces")
