"""Names that cannot be resolved here: with a proxy, they can lead to a private network."""

from __future__ import annotations

import pytest

from inspector.wire.private_address import nearer_address, private_address

UNKNOWN = "http://no-such-host.invalid/"
PUBLIC = "http://8.8.8.8/"


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a proxy for http, but not for one host."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "direct.invalid")


@pytest.mark.usefixtures("proxied")
async def test_a_name_that_only_a_proxy_can_resolve_is_not_public():
    assert "no-such-host.invalid" in await private_address(UNKNOWN, PUBLIC)
    assert "no-such-host.invalid" in await nearer_address(UNKNOWN, PUBLIC)
    assert await private_address(UNKNOWN, "http://another.invalid/")
    assert await nearer_address(UNKNOWN, "http://another.invalid/")


@pytest.mark.usefixtures("proxied")
@pytest.mark.parametrize("url", ["http://direct.invalid/", "https://no-such-host.invalid/", "http://9.9.9.9/", ""])
async def test_a_url_without_a_proxy_or_with_a_public_address_is_not_reported(url: str):
    assert not await private_address(url, PUBLIC)
    assert not await nearer_address(url, PUBLIC)


@pytest.mark.usefixtures("proxied")
async def test_an_agent_of_a_private_network_may_lead_a_login_through_the_proxy():
    assert not await nearer_address(UNKNOWN, "http://10.0.0.1/")
    assert not await nearer_address(UNKNOWN, UNKNOWN)
    assert not await private_address(UNKNOWN, UNKNOWN)


async def test_nothing_can_be_sent_to_an_unknown_name_without_a_proxy(monkeypatch: pytest.MonkeyPatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert not await private_address(UNKNOWN, PUBLIC)
    assert not await nearer_address(UNKNOWN, PUBLIC)
