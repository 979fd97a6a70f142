"""The findings about logins: each fault of the mock's authorization server breaks its rule, and no other."""

from __future__ import annotations

from contextlib import suppress

import pytest
from inspector.sample_agents.faults.authorization import REGISTRIES
from scripted import OpenSession, records
from test_mock_login import User, protected

from inspector.capture.records import LOGIN
from inspector.protocol.errors import FaultError
from inspector.session.session import Session


def found(session: Session) -> set[str]:
    """Return the rules that the authorization server and the agent broke."""
    rules = {finding.rule for record in records(session) for finding in record.findings}
    return {rule for rule in rules if not rule.startswith("CARD-")}


@pytest.mark.parametrize("kind", ["oauth2", "oidc"])
async def test_a_login_without_faults_has_no_findings(open_session: OpenSession, kind: str):
    async with protected(kind) as url:
        session = await open_session(url)
        await session.list_tasks().finish()
        for grant in ("clientCredentials", "authorizationCode", "deviceCode"):
            await User().log_in(session, grant)
            await session.credentials.logins.refresh(session.credentials.logins.tokens[0])
        steps = {record.meta.get(LOGIN) for record in records(session)} - {None}
        assert steps >= {"metadata", "resource", "authorize", "redirect", "device", "token", "refresh"}
        assert found(session) == set()


LOGINS = {"device-expires": "deviceCode", "hostile-device": "deviceCode", "slow-down": "deviceCode"}
OPENID = {"no-keys", "wrong-nonce", "id-token-audience", "clock-ahead"}
MORE = {"http-endpoint": {"AUTH-003"}, "clock-ahead": {"AUTH-052"}}
"""Faults that break another rule, too: the endpoint is not that on the card, and the ID token is not valid yet."""
FAULTS = {fault.name: fault for registry in REGISTRIES for fault in registry.faults}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_of_a_login_causes_its_finding(open_session: OpenSession, name: str):
    async with protected("oidc" if name in OPENID else "oauth2", name) as url:
        session = await open_session(url)
        await session.list_tasks().finish()
        with suppress(FaultError):
            await User().log_in(session, LOGINS.get(name, "authorizationCode"), "messages", "transfers")
            await session.list_tasks().finish()
            await session.credentials.logins.refresh(session.credentials.logins.tokens[0])
        assert found(session) == {FAULTS[name].finding} | MORE.get(name, set())
