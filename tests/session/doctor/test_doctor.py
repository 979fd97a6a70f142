"""The doctor: versions and interfaces, what it proposes, and the session that it uses."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web
from examining import (
    ADDRESS,
    AS_0_3,
    AS_1_0,
    UPDATES,
    WELL_KNOWN,
    agent,
    examine,
    knows_no_task,
    of_0_3,
    result,
    row,
    serving,
    streaming,
    task,
    the,
)
from inspector.sample_agents.server import MockAgent

from inspector.capture.records import Kind, is_probe
from inspector.findings.finding import Finding, Severity
from inspector.findings.rules import RULES
from inspector.protocol.selection import alternatives
from inspector.session.card.observed import ObservedBehaviour
from inspector.session.doctor.probe import in_words, remedy_of
from inspector.session.session import Session


async def test_valid_agent_passes_with_streaming_and_push(session: Session):
    mock = MockAgent(pace=0)
    url = await mock.start()
    try:
        report = await examine(session, url, "push")
    finally:
        await mock.stop()
    assert report.passed
    assert report.fault is None
    assert report.proposals == []
    names = [step.name for step in report.steps]
    assert names[:2] == ["name", "tcp"]
    assert the(report, f"card at {WELL_KNOWN}").passed
    for name in ("card content", AS_1_0, "streaming", "push"):
        step = the(report, name)
        assert (step.passed, step.remedy) == (True, "")
    assert row(report, "interface 1") == ("1.0 over JSONRPC", "1.0 over JSONRPC", True)
    assert row(report, "streaming")[2] is row(report, "push notifications")[2] is True


async def test_no_capability_is_checked_without_a_message(session: Session):
    methods = []

    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        methods.append(call["method"])
        return await knows_no_task(request, call)

    async with agent(answer) as url:
        report = await examine(session, url)
    assert methods == ["GetTask"]
    assert row(report, "streaming") == ("yes", "not checked: needs --message", None)
    assert row(report, "push notifications")[::2] == ("not declared", None)


async def test_the_probes_are_marked_and_are_not_observed_behaviour(session: Session):
    async with agent(knows_no_task) as url:
        await session.connect(url)
        await session.get("missing").finish()
        before = len(session.journal.capture)
        await examine(session, url)
    capture = session.journal.capture
    made = [record for record in capture.select() if record.exchange or record.kind is Kind.REQUEST]
    assert {is_probe(record) for record in made if record.seq > before} == {True}
    assert not any(is_probe(record) for record in made if record.seq <= before)
    observed = ObservedBehaviour()
    observed.catch_up(capture)
    assert observed.operations["GetTask"].failed == 1


async def test_undeclared_0_3_is_proposed(session: Session):
    async with agent(of_0_3) as url:
        report = await examine(session, url)
        assert not report.passed
        refused = the(report, AS_1_0)
        assert refused.passed is False
        assert "MethodNotFoundError" in refused.message
        assert "--a2a-version" in refused.remedy
        spoken = the(report, AS_0_3)
        assert (spoken.passed, spoken.remedy) == (True, "")
        [proposal] = report.proposals
        assert proposal.choice.dialect.version == "0.3"
        assert proposal.reason == "the card declares 1.0, but the interface responded as 0.3 over JSONRPC"
        assert row(report, "interface 1") == ("1.0 over JSONRPC", "0.3 over JSONRPC", False)


async def test_interface_of_an_unknown_version_is_tried_in_all_versions(session: Session):
    async with agent(knows_no_task, version="9.9") as url:
        report = await examine(session, url)
    assert the(report, AS_1_0).passed
    [proposal] = report.proposals
    assert proposal.reason.startswith("the card declares 9.9, ")
    assert row(report, "interface 1") == ("9.9 over JSONRPC", "1.0 over JSONRPC", None)


async def test_interface_of_an_unsupported_binding_is_not_checked(session: Session):
    async with agent(knows_no_task, binding="https://example.org/pigeon") as url:
        report = await examine(session, url)
    step = the(report, "interface 1 protocol")
    assert step.passed is None
    assert "pigeon" in step.message
    assert the(report, "interfaces").passed is False
    assert row(report, "streaming") == ("yes", "not checked: no interface responded as expected", None)


async def test_web_page_instead_of_a_response_is_reported(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        return web.Response(text="<html>Welcome</html>", content_type="text/html")

    async with agent(answer) as url:
        report = await examine(session, url)
    step = the(report, AS_1_0)
    assert step.passed is False
    assert "a web page" in step.message
    assert "URL of the interface" in step.remedy
    assert report.proposals == []
    assert row(report, "interface 1")[1:] == ("no protocol confirmed", False)


async def test_a_url_with_the_path_that_0_3_adds_is_proposed_without_it(session: Session):
    not_found = {"code": 404, "status": "NOT_FOUND", "message": "Task not found"}  # an error without its A2A name

    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        if request.path == WELL_KNOWN:
            return web.json_response(card)
        known = request.path.startswith("/v1/tasks/")
        return web.json_response(not_found, status=404) if known else web.Response(status=404)

    async with serving(serve) as url:
        card = {
            "name": "Doubled",
            "description": "Its URL ends with /v1",
            "version": "1",
            "protocolVersion": "0.3.0",
            "url": f"{url}/v1/",
            "preferredTransport": "HTTP+JSON",
            "capabilities": {},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [],
        }
        report = await examine(session, url)
    step = the(report, "interface 1 as 0.3 over HTTP+JSON")
    assert step.passed is False
    assert "(GET /v1/v1/tasks/" in step.message
    [proposal] = report.proposals
    assert proposal.choice.interface.url == url
    assert proposal.reason == f"the card has {url}/v1/, but the interface responded at {url}"
    tried = the(report, f"interface 1 at {url.removeprefix('http://')} as 0.3 over HTTP+JSON")
    assert tried.message.endswith("expected TaskNotFoundError")


async def test_wildcard_interface_is_tried_at_the_typed_origin(session: Session):
    async with agent(knows_no_task, url="http://0.0.0.0:{port}/rpc") as url:
        report = await examine(session, url)
    step = the(report, ADDRESS)
    assert step.passed is False
    assert "this is a wildcard address" in step.message
    assert step.remedy == f"Advertise the public address, perhaps {url}/rpc."
    [proposal] = report.proposals
    assert proposal.choice.interface.url == f"{url}/rpc"
    assert "the interface responded at 127.0.0.1" in proposal.reason
    assert row(report, "interface 1")[1:] == (f"1.0 over JSONRPC at {url}/rpc", False)


async def test_wildcard_interface_is_tried_at_its_own_port(session: Session):
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return await knows_no_task(request, json.loads(await request.read()))

    async with serving(handle) as elsewhere:
        port = elsewhere.rpartition(":")[2]
        async with agent(knows_no_task, url=f"http://0.0.0.0:{port}/") as url:
            report = await examine(session, url)
    [proposal] = report.proposals
    assert proposal.choice.interface.url == f"{elsewhere}/"


async def test_nothing_is_proposed_without_a_response(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        return web.Response(status=404)

    async with agent(answer, url="http://0.0.0.0:{port}/rpc") as url:
        report = await examine(session, url)
    assert the(report, ADDRESS).passed is False
    assert report.proposals == []


async def test_two_names_of_this_machine_are_equal(session: Session):
    async with agent(knows_no_task, url="http://localhost:{port}/rpc") as url:
        report = await examine(session, url)
    assert the(report, ADDRESS).passed
    assert report.passed


async def test_an_error_that_violates_a_rule_is_a_failure(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        return web.json_response(
            {"jsonrpc": "2.0", "id": "of another call", "error": {"code": -32001, "message": "no"}}
        )

    async with agent(answer) as url:
        report = await examine(session, url)
    step = the(report, AS_1_0)
    assert step.passed is False
    assert step.message.startswith("returned TaskNotFoundError, as expected; RPC-")
    assert "a2a-inspect rules" in step.remedy


async def test_a_stream_with_less_than_the_task_is_a_failure(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] == "GetTask" and call["params"]["id"] == "t":
            artifact = {"artifactId": "a", "parts": [{"text": "lost in the stream"}]}
            return result(call, task("COMPLETED") | {"artifacts": [artifact]})
        return await streaming(UPDATES)(request, call)

    async with agent(answer) as url:
        report = await examine(session, url, "go")
    assert (the(report, "streaming").passed, the(report, "task").passed) == (True, False)
    assert the(report, "task").message == "the stream has less text than GetTask in a"


async def test_the_tenant_of_an_interface_goes_with_every_call(session: Session):
    tenants = []

    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        tenants.append(call["params"].get("tenant"))
        return await streaming(UPDATES)(request, call)

    async with agent(answer, interface={"tenant": "acme"}) as url:
        await examine(session, url, "go")
    assert tenants == ["acme"] * 3  # for an unknown task, the message and its task


async def test_connected_session_keeps_its_interface_and_push_setting(session: Session):
    mock = MockAgent(pace=0)
    url = await mock.start()
    try:
        connection = await session.connect(url)
        session.use(next(one for one in alternatives(connection.card) if one.dialect.version == "0.3"))
        before = session.connection
        report = await examine(session, url, "push")
    finally:
        await mock.stop()
    assert report.passed
    assert session.connection is before
    assert session.choice.dialect.version == "0.3"
    assert not session.push.on


def test_each_rule_is_named_once_with_the_number_of_its_findings():
    found = [
        Finding(rule, Severity.ERROR, f"/{number}", "seen") for number, rule in enumerate(["CARD-001", "CARD-073"] * 2)
    ]
    first, second = (f"{rule} {RULES[rule].title}: seen (2 times)" for rule in ("CARD-001", "CARD-073"))
    assert in_words(found) == f"{first}; {second}"
    assert in_words(found + [Finding(f"CARD-00{number}", Severity.ERROR, "", "seen") for number in (2, 3, 4)]) == (
        f"{first}; {second}; CARD-002 {RULES['CARD-002'].title}: seen; 2 more rules"
    )
    assert in_words([]) == ""
    assert remedy_of(found) == f"{RULES['CARD-001'].remedy} Requirements: a2a-inspect rules CARD-001 CARD-073"
