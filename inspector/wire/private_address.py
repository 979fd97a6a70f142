"""Find redirects to addresses that only this machine or its network can reach (server-side request forgery)."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from inspector.text.host import AddressScope, IpAddress, scope_of
from inspector.wire.endpoint import proxy_of
from inspector.wire.resolve import look_up


async def private_address(url: str, before: str) -> str:
    """Return the private address to which a redirect from the URL `before` leads, `""` if there is none.

    Private are all addresses that are not public, also shared addresses, such as those of some metadata services,
    and names that only a proxy can resolve. A redirect to the same host, or from this machine to this machine, is not
    reported.
    """
    host, host_before = (urlsplit(place).hostname or "" for place in (url, before))
    if host == host_before:
        return ""
    found = await _addresses(host)
    if not found:
        return _resolved_by_proxy(url, host)
    inner = [address for address in found if scope_of(address) is not AddressScope.PUBLIC]
    if inner and all(map(_is_this_machine, inner)):
        starts = await _addresses(host_before)
        if starts and all(map(_is_this_machine, starts)):
            return ""
    return str(inner[0]) if inner else ""


async def nearer_address(url: str, agent: str) -> str:
    """Return the address of a URL that fewer machines can reach than the agent at the URL `agent`, `""` if none.

    A public agent must not cause requests within a private network, and an agent of that network none to this machine
    or to a link-local address. The addresses of the same host are not reported. A name that only a proxy can resolve is
    treated as one of a private network.
    """
    host, here = (urlsplit(place).hostname or "" for place in (url, agent))
    if host == here:
        return ""
    found = await _addresses(host)
    nearest = str(max(found, key=_nearness)) if found else _resolved_by_proxy(url, host)
    scope = max(map(_nearness, found), default=AddressScope.NETWORK)
    return nearest if scope > max(map(_nearness, await _addresses(here)), default=AddressScope.PUBLIC) else ""


def _resolved_by_proxy(url: str, host: str) -> str:
    """Return a host that could not be resolved here if a proxy resolves it, else `""`: then nothing can be sent there.

    The name of a server that only the network of the proxy can reach often cannot be resolved elsewhere.
    """
    return f"{host}, a name that only the proxy can resolve" if proxy_of(url) else ""


def _nearness(address: IpAddress) -> AddressScope:
    """Return the scope of an address; a client that connects to a wildcard address reaches this machine."""
    return min(scope_of(address), AddressScope.MACHINE)


async def _addresses(host: str) -> list[IpAddress]:
    """Return the addresses of a host, none if its name cannot be resolved."""
    try:
        found = await look_up(host)
    except (OSError, UnicodeError):
        return []
    addresses = (ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found)
    return [getattr(address, "ipv4_mapped", None) or address for address in addresses]


def _is_this_machine(address: IpAddress) -> bool:
    return _nearness(address) is AddressScope.MACHINE
