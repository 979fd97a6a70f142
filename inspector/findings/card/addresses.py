"""Rules about the URLs of a card: those of its interfaces, and others."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.findings.card.facts import Facts
from inspector.findings.card.valid_examples import with_interface
from inspector.findings.rule_set import ERROR, HINT, V1, WARNING, RuleSet, Violation
from inspector.findings.url import flaw, host_of, split
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer
from inspector.text.host import AddressScope, address_scope

RULE_SET = RuleSet[Facts]()

_WEB = frozenset({"http", "https"})


@RULE_SET.rule(
    "CARD-040",
    ERROR,
    "The card declares no interface",
    section="1.0 §8.3.1, 0.3 §5.6.4",
    requirement="The agent MUST declare at least one supported transport.",
    remedy="Add at least one interface with url, protocolBinding and protocolVersion.",
    versions=V1,
    failing={"supportedInterfaces": []},
)
def no_interface(card: Facts) -> Iterator[Violation]:
    if card.value.get("supportedInterfaces") == []:
        yield Violation("/supportedInterfaces", "supportedInterfaces is empty")


@RULE_SET.rule(
    "CARD-041",
    ERROR,
    "An interface URL is not absolute",
    section="1.0 §4.4.6, 0.3 §5.5.5",
    requirement="The url must be a valid absolute HTTPS URL in production.",
    remedy="Set url to an absolute URL with scheme and host that clients on other machines can use.",
    failing=with_interface(url="/a2a"),
    passing=with_interface(url="agent.example.com:443", protocolBinding="GRPC"),
)
def not_absolute(card: Facts) -> Iterator[Violation]:
    for interface in card.interfaces:
        # An unknown binding may accept gRPC targets. Rules about members report a missing url.
        why = flaw(interface.url, target=interface.binding.upper() not in ("JSONRPC", "HTTP+JSON"))
        if why and "url" not in interface.lacks:
            yield Violation(pointer(*interface.steps, "url"), f"{interface.url[:200]!r}: {why}")


@RULE_SET.rule(
    "CARD-042",
    ERROR,
    "The scheme of an interface URL does not match the binding",
    section="1.0 §9.1, §11.1",
    requirement="JSON-RPC and HTTP+JSON use HTTP(S).",
    remedy="Use an https URL, or set protocolBinding to the URI of the binding that is served there.",
    failing=with_interface(url="ws://agent.example.com/a2a"),
    passing=with_interface(
        url="wss://agent.example.com/a2a", protocolBinding="https://example.com/bindings/websocket/v1"
    ),
)
def unfit_scheme(card: Facts) -> Iterator[Violation]:
    for interface in card.interfaces:
        scheme = interface.url.partition("://")[0].lower() if "://" in interface.url else ""
        if scheme and interface.binding.upper() in ("JSONRPC", "HTTP+JSON", "") and scheme not in _WEB:
            yield Violation(
                pointer(*interface.steps, "url"),
                f"the scheme is {scheme}, the binding is {interface.binding or 'JSONRPC'}",
            )


@RULE_SET.rule(
    "CARD-043",
    WARNING,
    "An interface URL does not use encryption",
    section="1.0 §13.3, §4.4.6",
    requirement="Production deployments MUST use encrypted communication.",
    remedy="Serve the agent over https; use http only on the developer's own machine.",
    failing=with_interface(url="http://agent.example.com/a2a"),
    passing=with_interface(url="http://localhost:9999/a2a"),
)
def not_encrypted(card: Facts) -> Iterator[Violation]:
    for interface in card.interfaces:
        host = host_of(interface.url)
        outside = address_scope(host) <= AddressScope.SHARED
        if interface.url.lower().startswith(("http://", "ws://")) and host and outside:
            yield Violation(pointer(*interface.steps, "url"), f"url is {interface.url}")


@RULE_SET.rule(
    "CARD-044",
    ERROR,
    "A URL contains a user name or a password",
    section="1.0 §14.3, 0.3 §5.4",
    requirement="The card SHOULD NOT include sensitive credentials.",
    remedy="Remove the credentials from the URL and change the password: the card is public.",
    failing=with_interface(url="https://bob:secret@agent.example.com/a2a"),
)
def userinfo(card: Facts) -> Iterator[Violation]:
    for where, url in _all_urls(card):
        parts = split(url) if "://" in url else None
        if parts and "@" in parts.netloc:
            yield Violation(where, f"{parts.scheme}://…@{parts.hostname}")


@RULE_SET.rule(
    "CARD-045",
    ERROR,
    "An interface URL has a wildcard address",
    section="1.0 §4.4.6",
    requirement="url is the URL where the interface is available.",
    remedy="Set url to the host name that clients use; a wildcard address is only for binding a socket.",
    failing=with_interface(url="http://0.0.0.0:8000/"),
)
def wildcard(card: Facts) -> Iterator[Violation]:
    for interface in card.interfaces:
        if address_scope(host_of(interface.url)) is AddressScope.WILDCARD:
            yield Violation(pointer(*interface.steps, "url"), f"url is {interface.url}")


@RULE_SET.rule(
    "CARD-004",
    WARNING,
    "An interface URL is only reachable from the agent's own machine or network",
    section="1.0 §4.4.6",
    requirement="url is the URL where the interface is available.",
    remedy="Set url to the public host name instead of a loopback or private address.",
    failing=with_interface(url="http://127.0.0.1:8000/"),
)
def unreachable(card: Facts) -> Iterator[Violation]:
    served = host_of(card.served.url)
    for interface in card.interfaces if served else ():
        host = host_of(interface.url)
        if host and address_scope(served) < address_scope(host) <= AddressScope.MACHINE:
            yield Violation(pointer(*interface.steps, "url"), f"{interface.url}; the card was served by {served}")


@RULE_SET.rule(
    "CARD-046",
    HINT,
    "An interface is on another host than the card",
    section="1.0 §8.3",
    requirement="Credentials belong to an origin: clients should not send them to another origin without consent.",
    remedy="Check that the host is yours. If it is, no change is needed.",
    failing=with_interface(url="https://elsewhere.example.net/a2a"),
)
def other_origin(card: Facts) -> Iterator[Violation]:
    served = host_of(card.served.url)
    for interface in card.interfaces if served else ():
        host = host_of(interface.url)
        if host and host != served and address_scope(host) <= min(address_scope(served), AddressScope.LINK):
            yield Violation(pointer(*interface.steps, "url"), f"{host}; the card was served by {served}")


@RULE_SET.rule(
    "CARD-047",
    WARNING,
    "An interface URL has a query or a fragment",
    section="1.0 §11.3, RFC 3986 §3.5",
    requirement="Clients append the paths of operations to the URL; a fragment is never sent.",
    remedy="Remove the query or the fragment.",
    failing=with_interface(url="https://agent.example.com/a2a#main"),
)
def fragment(card: Facts) -> Iterator[Violation]:
    for interface in card.interfaces:
        parts = split(interface.url) if "://" in interface.url else None
        if parts and (parts.fragment or (parts.query and interface.binding.upper() == "HTTP+JSON")):
            yield Violation(pointer(*interface.steps, "url"), f"url is {interface.url}")


@RULE_SET.rule(
    "CARD-048",
    WARNING,
    "A host name has characters outside ASCII",
    section="RFC 3986 §3.2.2, RFC 5891",
    requirement="A host in a URL is ASCII; other characters are encoded in Punycode, which reveals look-alike names.",
    remedy="Write the name in Punycode, and check that it is the intended name.",
    failing=with_interface(url="https://аgent.example.com/a2a"),
)
def non_ascii_host(card: Facts) -> Iterator[Violation]:
    for where, url in _all_urls(card):
        host = host_of(url) if "://" in url else ""
        if not host.isascii():
            yield Violation(where, f"{host} is {_punycode(host)} in Punycode")


@RULE_SET.rule(
    "CARD-061",
    WARNING,
    "A URL in the card is not valid",
    section="1.0 §4.4.1, §4.4.2",
    requirement="documentationUrl, iconUrl and the provider's url are URLs.",
    remedy="Set the member to an absolute https URL.",
    failing={"documentationUrl": "docs/index.html"},
)
def other_url(card: Facts) -> Iterator[Violation]:
    for where, url in _other_urls(card):
        why = "" if _is_image_data(where, url) else flaw(url)
        if not why and url.partition(":")[0].lower() not in _WEB and not _is_image_data(where, url):
            why = "the scheme is not http or https"
        if why:
            yield Violation(where, f"{url[:200]!r}: {why}")


def _punycode(host: str) -> str:
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return "not representable"


def _is_image_data(where: str, url: str) -> bool:
    return where == "/iconUrl" and url.lower().startswith("data:image/")


def _other_urls(card: Facts) -> Iterator[tuple[str, str]]:
    provider = card.value.get("provider")
    places: list[tuple[str, Json]] = [(f"/{name}", card.value.get(name)) for name in ("documentationUrl", "iconUrl")]
    if isinstance(provider, dict):
        places.append(("/provider/url", provider.get("url")))
    # An SDK writes an optional member without a value as an empty string.
    yield from ((where, url) for where, url in places if isinstance(url, str) and (url or where == "/provider/url"))


def _all_urls(card: Facts) -> Iterator[tuple[str, str]]:
    yield from ((pointer(*interface.steps, "url"), interface.url) for interface in card.interfaces)
    yield from _other_urls(card)
    yield from card.login_urls()
