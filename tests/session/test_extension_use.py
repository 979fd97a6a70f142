"""The data of known extensions in recorded calls: labels, marks, counts and findings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web
from inspector.sample_agents.extension import OFFERED, TIMESTAMPS
from inspector.sample_agents.server import MockAgent
from mandate_tokens import OTHER, WALLET, chain, closed, digest, opened, sign
from scripted import (
    Agent,
    Heard,
    OpenSession,
    answering,
    artifact,
    frame,
    message,
    records,
    rules,
    say,
    status,
    streaming,
    task,
)

from inspector.capture.records import EXTENSIONS, VERIFIED, Kind
from inspector.findings.signatures.keyset import read_keys
from inspector.protocol.extensions.known import A2UI, PASSPORT, TIMESTAMP, uses_in
from inspector.session.card.observed import ObservedBehaviour, extension_statuses
from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.session.extension_use import results_in, results_of
from inspector.session.replay.recording import Recording

TIME = {f"{TIMESTAMP}/timestamp": "2026-01-31T12:00:00Z"}


def labels(session: Any) -> list[str]:
    return [record.label for record in records(session, Kind.FRAME, Kind.BODY) if record.meta.get(EXTENSIONS)]


def names(session: Any) -> dict[str, int]:
    return dict(session.journal.extensions)


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON", "GRPC"])
async def test_the_demo_of_extensions_is_labelled_and_counted_over_every_binding(
    mock: MockAgent, open_session: OpenSession, binding: str
):
    activated = ", ".join(extension.uri for extension in OFFERED)
    session = await open_session(mock.url, transports=(binding,), headers={"A2A-Extensions": activated})
    await say(session, "extensions")
    assert (names(session)["A2UI"], names(session)["AP2"]) == (1, 2)
    assert names(session)["Timestamps"] >= 4
    assert any("A2UI order: 7 components" in label for label in labels(session))
    assert any("cart mandate, Books & Rivers, EUR 28.4" in label for label in labels(session))
    assert rules(session) == set()
    observed = ObservedBehaviour(used=session.journal.extensions)
    observed.catch_up(session.journal.capture)
    assert session.connection is not None
    statuses = {status.name: status for status in extension_statuses(session.connection.card, observed)}
    assert (statuses["A2UI v0.9.1"].requested, statuses["A2UI v0.9.1"].activated) == (1, 1)
    assert not any(status.contradicts for status in statuses.values())
    await session.close()
    recording = Recording(session.journal.capture.path)
    for _ in recording.read():
        pass
    assert names(recording) == names(session), "a capture has the same counts"


async def test_a_secret_in_the_title_of_an_extension_is_masked(agent: Agent, open_session: OpenSession):
    passport = {"clientId": "s3cr3t-value-42", "state": {}}
    agent.answer(answering(message("x", metadata={PASSPORT: passport})))
    session = await open_session(agent.url, secrets=("s3cr3t-value-42",))
    await say(session, "hello", stream=False)
    assert names(session) == {"Secure Passport": 1}
    assert "s3cr3t-value-42" not in json.dumps(labels(session))


async def test_a_passport_in_a_request_is_named(mock: MockAgent, open_session: OpenSession):
    session = await open_session(mock.url)
    parts = (DraftPart(PartKind.TEXT, "echo hi"),)
    draft = Draft(parts=parts, metadata=json.dumps({PASSPORT: {"clientId": "me", "state": {"currency": "EUR"}}}))
    call = session.send(draft, stream=False)
    assert await call.finish() is None
    request = session.journal.capture.get(call.exchange.number)
    assert request.meta[EXTENSIONS] == ["Secure Passport"]
    assert "passport of me, not signed" in request.label


@pytest.mark.parametrize(
    ("requested", "activated", "found"),
    [
        ("", "", {"RESULT-018"}),
        (TIMESTAMPS, "", {"RESULT-018"}),
        (TIMESTAMPS, TIMESTAMPS, set()),
        ("", TIMESTAMPS, {"RESULT-017"}),
        ("urn:undeclared", "urn:undeclared", {"RESULT-016", "RESULT-018"}),
        (f"urn:other, {TIMESTAMPS}", TIMESTAMPS, set()),
    ],
)
async def test_data_and_activation_are_compared(
    agent: Agent, open_session: OpenSession, requested: str, activated: str, found: set[str]
):
    async def handle(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        chunk = artifact("text")
        chunk["artifactUpdate"]["artifact"]["metadata"] = TIME
        events = {"task": task("WORKING")}, chunk, chunk, status("COMPLETED")
        body = b"".join(frame(event, heard.json["id"]) for event in events)
        headers = {"Content-Type": "text/event-stream"} | ({"A2A-Extensions": activated} if activated else {})
        return web.Response(body=body, headers=headers)

    agent.answer(handle)
    agent.serve_card(capabilities={"streaming": True, "extensions": [{"uri": TIMESTAMPS}, {"uri": f"{A2UI}v0.9"}]})
    session = await open_session(agent.url, headers={"A2A-Extensions": requested} if requested else {})
    await say(session, "hello")
    assert rules(session) & {"RESULT-016", "RESULT-017", "RESULT-018"} == found


def _mandate(kind: str, content: Any) -> dict[str, Any]:
    found = artifact("text")
    found["artifactUpdate"]["artifact"]["parts"] = [{"data": {f"ap2.mandates.{kind}": content}}]
    return found


OPEN = opened()
FORGED = chain(OPEN, closed(OPEN, OTHER))
VALID = chain(OPEN, closed(OPEN))


async def _received(agent: Agent, open_session: OpenSession, event: Any, **options: Any) -> Any:
    agent.answer(streaming({"task": task("WORKING")}, event, status("COMPLETED")))
    agent.serve_card(capabilities={"streaming": True})
    session = await open_session(agent.url, **options)
    await say(session, "hello")
    return session


async def test_the_signatures_of_a_mandate_are_verified_when_it_is_received(agent: Agent, open_session: OpenSession):
    session = await _received(agent, open_session, _mandate("PaymentMandateSdJwt", FORGED))
    [record] = [record for record in records(session, Kind.FRAME) if record.meta.get(VERIFIED)]
    [found] = [finding for finding in record.findings if finding.rule == "MANDATE-001"]
    assert found.pointer == "/result/artifactUpdate/artifact/parts/0/data"
    assert found.seen.startswith(
        "payment mandate, token 2 of 2, signature: the signature does not fit the key of token 1"
    )
    [result] = [each for each in results_in(record) if each.is_problem]
    assert (result.what, result.outcome) == ("token 2 of 2, signature", "not valid")
    assert results_of({"ap2.mandates.PaymentMandateSdJwt": FORGED}, session.journal) == list(results_in(record))
    assert results_of({"ap2.mandates.PaymentMandateSdJwt": VALID}, session.journal) is None


async def test_the_results_are_found_in_a_capture_that_masks_the_token(agent: Agent, open_session: OpenSession):
    cart = {"contents": {"id": "c"}, "merchant_authorization": sign({"cart_hash": digest("x")}, OTHER)}
    session = await _received(agent, open_session, _mandate("CartMandate", cart))
    [record] = [record for record in records(session, Kind.FRAME) if record.meta.get(VERIFIED)]
    payload = json.loads(session.payload(record))
    [use] = uses_in(payload)
    assert use.value["ap2.mandates.CartMandate"]["merchant_authorization"] == "****"
    for value in (use.value, {"ap2.mandates.CartMandate": cart}):
        results = results_of(value, session.journal)
        assert results is not None
        assert ("cart_hash", "not valid") in [(each.what, each.outcome) for each in results]
    assert "MANDATE-002" in rules(session)


async def test_a_trusted_key_verifies_the_first_token(agent: Agent, open_session: OpenSession):
    keys = read_keys(WALLET.as_dict(private=False))
    session = await _received(agent, open_session, _mandate("PaymentMandateSdJwt", VALID), trusted_keys=keys)
    [record] = [record for record in records(session, Kind.FRAME) if record.meta.get(VERIFIED)]
    assert {each.outcome for each in results_in(record)} == {"valid"}
    assert not [rule for rule in rules(session) if rule.startswith("MANDATE")]


async def test_nothing_is_verified_without_checks(agent: Agent, open_session: OpenSession):
    session = await _received(agent, open_session, _mandate("PaymentMandateSdJwt", FORGED), check=False)
    assert [record for record in records(session, Kind.FRAME) if record.meta.get(EXTENSIONS)]
    assert not [record for record in records(session, Kind.FRAME) if record.meta.get(VERIFIED)]


async def test_a_mandate_in_a_request_is_verified_without_a_finding(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    data = DraftPart(PartKind.DATA, json.dumps({"ap2.mandates.PaymentMandateSdJwt": FORGED}))
    assert await session.send(Draft(parts=(data,)), stream=False).finish() is None
    [record] = [record for record in records(session, Kind.REQUEST) if record.meta.get(VERIFIED)]
    assert record.findings == ()
    assert [each.outcome for each in results_in(record) if each.is_problem] == ["not valid"]
