"""Hosts: how they are written in URLs, and from where they can be reached."""

from __future__ import annotations

import ipaddress
from enum import IntEnum
from typing import TypeAlias

IpAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_SHARED = ipaddress.ip_network("100.64.0.0/10")
_OF_NETWORKS = (".local", ".internal", ".lan", ".svc", ".cluster.local")
_WILDCARDS = ("0", "*")
"""Wildcard addresses that are not IP addresses."""


def url_host(host: str) -> str:
    """Return a host as in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def authority(host: str, port: int) -> str:
    """Return a host and a port as in a URL and in the header `Host`."""
    return f"{url_host(host)}:{port}"


class AddressScope(IntEnum):
    """From where an address can be reached: the fewer machines can reach it, the higher the number.

    `SHARED` are the addresses between a provider and its customers (RFC 6598), which VPNs such as Tailscale use, too.
    `LINK` are link-local addresses, such as that of the metadata service of a cloud. Servers listen on a `WILDCARD`
    address, but clients should not connect to it: on most systems, they reach their own machine.
    """

    PUBLIC = 0
    SHARED = 1
    NETWORK = 2
    LINK = 3
    MACHINE = 4
    WILDCARD = 5


def scope_of(address: IpAddress) -> AddressScope:
    """Return from where an IP address can be reached; IPv4 addresses can be mapped to IPv6."""
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_unspecified:
        return AddressScope.WILDCARD
    if address.is_loopback:
        return AddressScope.MACHINE
    if address.is_link_local:
        return AddressScope.LINK
    if address in _SHARED:
        return AddressScope.SHARED
    return AddressScope.PUBLIC if address.is_global else AddressScope.NETWORK


def address_scope(host: str) -> AddressScope:
    """Return from where a host name or an IP address can be reached, without a look-up of the name."""
    if host == "localhost" or host.endswith(".localhost"):
        return AddressScope.MACHINE
    try:
        return scope_of(ipaddress.ip_address(host))
    except ValueError:
        if host in _WILDCARDS:
            return AddressScope.WILDCARD
        inside = host.endswith(_OF_NETWORKS) or "." not in host
        return AddressScope.NETWORK if inside else AddressScope.PUBLIC


def is_local(host: str) -> bool:
    """Return whether a host is this machine, without a look-up of its name."""
    return address_scope(host) is AddressScope.MACHINE
