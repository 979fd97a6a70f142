"""Recorded pushes of agents that use the official SDKs, and the results of their checks."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from scripted import OpenSession

sys.path.append(str(Path(__file__).parents[2] / "protocol"))  # where the recordings are read

from recordings import HttpMessage, deliveries, name_of, recordings
from scripted import records

from inspector.capture.records import Kind, Record
from inspector.findings.signatures.keyset import read_keys
from inspector.protocol.jsonvalue import parse
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.session.session import Session
from inspector.wire.receiver.registration import Proof, WebhookAuth

JWKS = Path(__file__).parents[2] / "wire" / "data" / "jwks_0_1.json"
SECRETS = {"X-A2A-Notification-Token", "X-OPVS-Notification-Token"}


async def replay(session: Session, webhook: WebhookRegistration, post: HttpMessage) -> int:
    """Send a recorded delivery to our webhook: its bytes, except for the path, the host and the secrets."""
    host, port = session.push.receiver.address
    changed = {"Host": f"{host}:{port}"} | dict.fromkeys(SECRETS, webhook.registration.token)
    if webhook.registration.auth.proof is not Proof.JWT:
        changed["Authorization"] = f"Bearer {webhook.registration.token}"
    spelled = {name.lower(): value for name, value in changed.items()}
    lines = [f"POST {webhook.registration.path} HTTP/1.1"]
    lines += [f"{name}: {spelled.get(name.lower(), value)}" for name, value in post.headers.items()]
    reader, writer = await asyncio.open_connection(host, port)
    writer.write("\r\n".join([*lines, "", ""]).encode() + post.body)
    status = int((await reader.readline()).split()[1])
    writer.close()
    return status


def checks(record: Record) -> dict[str, bool | None]:
    return {name: good for name, good, _ in record.meta["checks"]}


@pytest.mark.parametrize(
    "path", [recording for recording in recordings("webhook") if not name_of(recording).startswith("01")], ids=name_of
)
async def test_recorded_deliveries_have_no_findings(open_session: OpenSession, path: Path):
    session = await open_session()
    await session.push.receiver.start()
    version = {"02": "0.2", "03": "0.3", "10": "1.0", "opvs": "opvs"}[name_of(path).split("/")[0]]
    posts = deliveries(path)
    webhook = session.push.register(version=version)
    assert [await replay(session, webhook, post) for post in posts] == [204] * len(posts)
    for record, post in zip(records(session, Kind.DELIVERY), posts, strict=True):
        verdict = checks(record)
        assert {name for name, good in verdict.items() if good is False} == set()
        assert verdict["schema"] is verdict["task"] is verdict["json"] is True
        assert parse(record.raw) == parse(post.body)
    found = {finding.rule for record in records(session, Kind.DELIVERY) for finding in record.findings}
    came = any(name.lower() == "authorization" for post in posts for name in post.headers)
    expected = {"PUSH-004"} if version in ("1.0", "opvs") and not came else set()
    assert {rule for rule in found if rule.startswith("PUSH-")} == expected


async def test_recorded_0_1_deliveries_have_valid_but_expired_signatures(open_session: OpenSession):
    [path] = [recording for recording in recordings("webhook") if name_of(recording).startswith("01")]
    session = await open_session()
    await session.push.receiver.start()
    keys = read_keys(parse(JWKS.read_bytes()))
    webhook = session.push.register(auth=WebhookAuth(Proof.JWT, keys=keys), version="0.1")
    posts = deliveries(path)
    assert posts
    for post in posts:
        await replay(session, webhook, post)
    for record in records(session, Kind.DELIVERY):
        verdict = checks(record)
        assert (verdict["authorization"], verdict["signature"], verdict["replay"]) == (True, True, True)
        late = verdict["dates"] is False
        assert late or verdict["body-hash"] is True
        assert bool(record.meta["refused"]) is late
