"""From where addresses can be reached, and what the checks that use it decide."""

from __future__ import annotations

import pytest

from inspector.protocol.errors import FaultError
from inspector.session.login.metadata import checked_url
from inspector.text.host import AddressScope, address_scope
from inspector.wire.private_address import nearer_address, private_address
from inspector.wire.reach import reachable

SCOPES = {
    "8.8.8.8": AddressScope.PUBLIC,
    "2606:4700::1111": AddressScope.PUBLIC,
    "100.64.0.1": AddressScope.SHARED,
    "100.127.255.254": AddressScope.SHARED,
    "::ffff:100.100.100.200": AddressScope.SHARED,
    "100.128.0.1": AddressScope.PUBLIC,
    "10.0.0.1": AddressScope.NETWORK,
    "192.168.1.1": AddressScope.NETWORK,
    "fd00::1": AddressScope.NETWORK,
    "::ffff:10.0.0.1": AddressScope.NETWORK,
    "169.254.169.254": AddressScope.LINK,
    "fe80::1": AddressScope.LINK,
    "127.0.0.1": AddressScope.MACHINE,
    "::1": AddressScope.MACHINE,
    "::ffff:127.0.0.1": AddressScope.MACHINE,
    "0.0.0.0": AddressScope.WILDCARD,
    "::": AddressScope.WILDCARD,
}


@pytest.mark.parametrize("address", SCOPES)
def test_an_address_has_a_scope(address: str):
    assert address_scope(address) is SCOPES[address]


@pytest.mark.parametrize("address", [each for each in SCOPES if SCOPES[each] is not AddressScope.WILDCARD])
async def test_redirects_logins_and_webhooks_agree_on_what_is_public(address: str):
    url = f"http://[{address}]/" if ":" in address else f"http://{address}/"
    is_public = SCOPES[address] is AddressScope.PUBLIC
    assert bool(await private_address(url, "http://9.9.9.9/")) is not is_public
    assert bool(await nearer_address(url, "http://9.9.9.9/")) is not is_public
    assert (reachable(url, "http://9.9.9.9/", came=False).good is None) is is_public


@pytest.mark.parametrize(
    ("url", "agent", "refused"),
    [
        ("http://10.0.0.1/", "http://100.64.0.1/", True),
        ("http://100.64.0.1/", "http://10.0.0.1/", False),
        ("http://100.64.0.2/", "http://100.64.0.1/", False),
        ("http://127.0.0.1/", "http://0.0.0.0/", False),
        ("http://0.0.0.0/", "http://127.0.0.1/", False),
    ],
)
async def test_a_login_may_not_lead_to_fewer_machines(url: str, agent: str, refused: bool):
    assert bool(await nearer_address(url, agent)) is refused


@pytest.mark.parametrize(("host", "refused"), [("8.8.8.8", True), ("100.64.0.1", True), ("10.0.0.1", False)])
def test_a_login_over_http_needs_an_own_network(host: str, refused: bool):
    if refused:
        with pytest.raises(FaultError, match="others could read the secrets"):
            checked_url(f"http://{host}/token", "the token URL")
    else:
        assert checked_url(f"http://{host}/token", "the token URL")
