"""The doctor on real sockets: what it looks at, how it judges, what it advises."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from aiohttp import ClientSession, web
from inspector.sample_agents.server import MockAgent

from inspector.capture.records import Kind, is_probe
from inspector.findings.finding import Finding, Severity
from inspector.protocol.errors import FaultCode, FaultError
from inspector.protocol.selection import alternatives
from inspector.session import stream_health
from inspector.session.card.observed import ObservedBehaviour
from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.probe import in_words, see_rules
from inspector.session.doctor.steps import Report, Step, Timeouts
from inspector.session.session import Session
from inspector.session.settings import Settings

WELL_KNOWN = "/.well-known/agent-card.json"
HURRIED = Timeouts(call=5.0, work=5.0, push=0.3)
AS_1_0 = "interface 1 as 1.0 over JSONRPC"
AS_0_3 = "interface 1 as 0.3 over JSONRPC"
ADDRESS = "interface 1 address"

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Answer = Callable[[web.BaseRequest, Any], Awaitable[web.StreamResponse]]


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    made = Session(tmp_path / "capture")
    yield made
    await made.close()


@asynccontextmanager
async def serving(handle: Handler) -> AsyncIterator[str]:
    runner = web.ServerRunner(web.Server(handle, access_log=None, handler_cancellation=True), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def agent(answer: Answer, *, at: str = WELL_KNOWN, **card: Any) -> AsyncIterator[str]:
    """An agent whose card says 1.0 over JSON-RPC at `/rpc`; `url`, `binding`, `version`, `interface` say otherwise."""
    interface = {
        "url": card.pop("url", "{base}/rpc"),
        "protocolBinding": card.pop("binding", "JSONRPC"),
        "protocolVersion": card.pop("version", "1.0"),
        **card.pop("interface", {}),
    }
    places = (at, card.pop("also_at", at))
    base = ""
    members = {
        "name": "Patient",
        "description": "Is examined",
        "version": "1",
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [],
    } | card

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path in places:
            told = interface | {"url": interface["url"].format(base=base, port=base.rpartition(":")[2])}
            return web.json_response(members | {"supportedInterfaces": [told]})
        if request.path.endswith("/rpc"):
            return await answer(request, json.loads(await request.read()))
        return web.Response(status=404)

    async with serving(handle) as url:
        base = url
        yield base


def failure(call: Any, code: int, words: str = "no") -> web.Response:
    return web.json_response({"jsonrpc": "2.0", "id": call["id"], "error": {"code": code, "message": words}})


def result(call: Any, value: Any) -> web.Response:
    return web.json_response({"jsonrpc": "2.0", "id": call["id"], "result": value})


def task(state: str) -> dict[str, Any]:
    return {"id": "t", "contextId": "c", "status": {"state": f"TASK_STATE_{state}"}}


async def knows_no_task(request: web.BaseRequest, call: Any) -> web.StreamResponse:
    return failure(call, -32001 if call["method"] == "GetTask" else -32601)


async def of_0_3(request: web.BaseRequest, call: Any) -> web.StreamResponse:
    return failure(call, -32001 if call["method"] == "tasks/get" else -32601)


async def examine(session: Session, reference: str, message: str = "", timeouts: Timeouts = HURRIED) -> Report:
    doctor = Doctor(session, reference, message, timeouts=timeouts)
    yielded = [step async for step in doctor.examine()]
    assert yielded == doctor.report.steps
    return doctor.report


def the(report: Report, name: str) -> Step:
    [step] = [step for step in report.steps if step.name == name]
    return step


def row(report: Report, thing: str) -> tuple[str, str, bool | None]:
    [observed] = [one for one in report.comparisons if one.feature == thing]
    return observed.declared, observed.observed, observed.matches


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


async def test_a_second_card_at_the_older_path_is_no_finding(session: Session):
    async with agent(knows_no_task, also_at="/.well-known/agent.json") as url:
        await session.connect(url)
        before = {rule: list(numbers) for rule, numbers in session.journal.found.items()}
        report = await examine(session, url)
    assert the(report, "card at /.well-known/agent.json").passed
    of_card = {rule: numbers for rule, numbers in session.journal.found.items() if rule.startswith("CARD-")}
    assert of_card == before
    assert "CARD-112" not in of_card


async def test_the_only_card_at_the_older_path_is_a_finding(session: Session):
    async with agent(knows_no_task, at="/.well-known/agent.json") as url:
        await examine(session, url)
    assert "CARD-112" in session.journal.found


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


async def test_required_credentials_are_reported_with_a_remedy(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})

    async with agent(answer) as url:
        report = await examine(session, url)
    step = the(report, AS_1_0)
    assert (step.passed, step.message) == (False, "credentials are required (401)")
    assert "--bearer" in step.remedy
    assert not [one for one in report.steps if one.name == AS_0_3]
    assert row(report, "interface 1")[2] is None
    assert row(report, "credentials") == ("none required", "required: Bearer", False)
    compared = the(report, "credentials")
    assert compared.passed is False
    assert compared.message == "demanded: Bearer; declared: none required; sent: none"
    assert "Declare the demanded scheme" in compared.remedy


async def test_protected_card_is_not_a_missing_card(session: Session):
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=401)

    async with serving(handle) as url:
        report = await examine(session, url)
    step = the(report, "card")
    assert (step.passed, step.message) == (False, "the card requires credentials")
    assert "--bearer" in step.remedy
    assert report.fault is not None
    assert report.fault.code == FaultCode.CREDENTIALS_MISSING


async def test_web_page_instead_of_a_card_is_reported(session: Session):
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text="<!doctype html><html><body>Welcome</body></html>", content_type="text/html")

    async with serving(handle) as url:
        report = await examine(session, url)
    place = the(report, f"card at {WELL_KNOWN}")
    assert place.passed is None
    assert "text/html" in place.message
    assert "a web page" in place.message
    step = the(report, "card")
    assert (step.passed, step.message) == (False, "no card at any of these URLs")
    assert "base URL" in step.remedy


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


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_refused_connection_ends_the_checks(session: Session, host: str, unused_tcp_port: int):
    report = await examine(session, f"http://{host}:{unused_tcp_port}")
    assert [step.name for step in report.steps] == ["name", "tcp"]
    step = the(report, "tcp")
    assert step.passed is False
    assert "Nothing listens" in step.message
    assert step.remedy == "Is the agent running, and on this port?"
    assert report.fault is not None
    assert report.fault.code == FaultCode.UNREACHABLE
    assert not report.passed


@pytest.mark.parametrize("reference", ["http://no-such-host.invalid", "http://a..b", f"http://{'a' * 64}.test"])
async def test_unresolvable_name_ends_the_checks(session: Session, reference: str):
    report = await examine(session, reference)
    [step] = report.steps
    assert (step.name, step.passed) == ("name", False)
    assert step.remedy
    assert report.fault is not None
    assert report.fault.code == FaultCode.UNREACHABLE


@pytest.mark.parametrize("reference", ["http://", "http://[::1", "http://127.0.0.1:99999"])
async def test_reference_without_host_is_a_user_error(session: Session, reference: str):
    report = await examine(session, reference)
    [step] = report.steps
    assert (step.name, step.passed) == ("name", False)
    assert "has no host" in step.message
    assert report.fault is not None
    assert report.fault.code == FaultCode.USAGE


async def test_tls_to_a_plain_http_port_is_reported(session: Session):
    async with agent(knows_no_task) as url:
        report = await examine(session, url.replace("http://", "https://"))
    assert [step.name for step in report.steps] == ["name", "tcp", "tls"]
    step = the(report, "tls")
    assert step.passed is False
    assert "TLS" in step.message
    assert "http://" in step.remedy


async def test_port_that_closes_a_tls_connection_is_reported(session: Session):
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.transport.abort()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        report = await examine(session, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    step = the(report, "tls")
    assert step.passed is False
    assert "http://" in step.remedy


async def test_a_card_under_a_path_is_found_there(session: Session):
    async with agent(knows_no_task, at=f"/agents/one{WELL_KNOWN}") as url:
        report = await examine(session, f"{url}/agents/one")
    assert the(report, f"card at /agents/one{WELL_KNOWN}").passed
    assert the(report, f"card at {WELL_KNOWN}").passed is None
    assert the(report, AS_1_0).passed
    assert report.passed


async def test_missing_card_is_reported_for_every_url(session: Session):
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=404)

    async with serving(handle) as url:
        report = await examine(session, f"{url}/agents")
    places = [step for step in report.steps if step.name.startswith("card at ")]
    assert len(places) == 5
    assert all(step.passed is None and step.message.startswith("404") and step.exchange for step in places)
    assert the(report, "card").passed is False
    assert report.fault is not None
    assert report.fault.code == FaultCode.CARD_NOT_FOUND
    assert session.connection is None


async def test_malformed_card_is_not_a_missing_card(session: Session):
    async with agent(knows_no_task, skills="many") as url:
        report = await examine(session, url)
    step = the(report, "card")
    assert (step.passed, step.message) == (False, "the card cannot be read")
    assert report.fault is not None
    assert report.fault.code == FaultCode.CARD_INVALID


async def test_card_without_interfaces_is_reported(session: Session, tmp_path: Path):
    path = tmp_path / "card.json"
    path.write_text(json.dumps({"name": "Bare", "skills": [], "capabilities": {}, "supportedInterfaces": []}))
    report = await examine(session, str(path))
    step = the(report, "interfaces")
    assert step.passed is False
    assert "supportedInterfaces" in step.remedy


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


async def test_interface_without_listener_is_not_called(session: Session, unused_tcp_port: int):
    async with agent(knows_no_task, url=f"http://127.0.0.1:{unused_tcp_port}/rpc") as url:
        report = await examine(session, url)
    step = the(report, ADDRESS)
    assert step.passed is False
    assert "Nothing listens" in step.message
    assert step.remedy
    assert not [one for one in report.steps if one.name.startswith("interface 1 as ")]


async def test_a_port_without_listener_is_tried_at_the_port_of_the_card(session: Session, unused_tcp_port: int):
    async with agent(knows_no_task, url=f"http://127.0.0.1:{unused_tcp_port}/rpc") as url:
        [proposal] = (await examine(session, url)).proposals
    assert proposal.choice.interface.url == f"{url}/rpc"


async def test_too_many_requests_are_no_verdict(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        return web.Response(status=429)

    async with agent(answer) as url:
        report = await examine(session, url)
    assert (the(report, AS_1_0).passed, report.passed) == (None, True)
    assert not [step for step in report.steps if step.name == AS_0_3]


async def test_missing_credentials_over_grpc_are_reported(session: Session, tmp_path: Path):
    class Closed(grpc.aio.ServerInterceptor):  # type: ignore[misc] # grpc has no types
        async def intercept_service(self, continuation: Any, details: Any) -> Any:
            async def refuse(request: bytes, context: Any) -> None:
                await context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")

            return grpc.unary_unary_rpc_method_handler(refuse)

    server = grpc.aio.server(interceptors=(Closed(),))
    target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        async with agent(knows_no_task, url=target, binding="GRPC") as url:
            report = await examine(session, url)
    finally:
        await server.stop(grace=None)
    step = the(report, "interface 1 as 1.0 over GRPC")
    assert (step.passed, step.message) == (False, "credentials are required (UNAUTHENTICATED)")
    assert [step.name for step in report.steps if step.name.startswith("interface 1 as")] == [step.name]


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


async def test_interface_url_without_host_is_reported(session: Session):
    async with agent(knows_no_task, url="http://[oops/rpc") as url:
        report = await examine(session, url)
    step = the(report, ADDRESS)
    assert (step.passed, step.remedy) == (False, "Correct the URL on the card.")


async def test_agent_without_response_does_not_block_the_doctor(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        return await asyncio.Event().wait()  # type: ignore[return-value]

    async with agent(answer) as url:
        report = await examine(session, url, timeouts=Timeouts(call=0.2))
    step = the(report, AS_1_0)
    assert step.passed is False
    assert step.message.startswith("no response within")
    assert step.remedy
    assert session.journal.exchanges.open == 0


async def test_host_without_response_is_requested_once(session: Session):
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return await asyncio.Event().wait()  # type: ignore[return-value]

    async with serving(handle) as url:
        report = await examine(session, url, timeouts=Timeouts(call=0.2))
    [place] = [step for step in report.steps if step.name.startswith("card at ")]
    assert place.passed is False
    assert place.remedy
    assert report.fault is not None
    assert report.fault.code == FaultCode.UNREACHABLE


def streaming(events: list[Any], *, wait: float = 0.0) -> Answer:
    """Answer a stream with all of its events at once, after a wait."""

    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] != "SendStreamingMessage":
            return await knows_no_task(request, call)
        await asyncio.sleep(wait)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        frames = [json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": event}) for event in events]
        await response.write("".join(f"data: {frame}\n\n" for frame in frames).encode())
        return response

    return answer


UPDATES = [
    {"task": task("SUBMITTED")},
    {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}},
    {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}},
]


def dated(seconds: int) -> list[Any]:
    """The updates of a task, the last with a timestamp this many seconds after the first."""
    first, middle, last = copy.deepcopy(UPDATES)
    first["task"]["status"]["timestamp"] = "2026-01-01T10:00:00Z"
    last["statusUpdate"]["status"]["timestamp"] = f"2026-01-01T10:00:{seconds:02}Z"
    return [first, middle, last]


@pytest.mark.parametrize(
    ("events", "passed"), [(dated(3), False), (dated(0), True), (UPDATES, None)], ids=["dated", "at once", "undated"]
)
async def test_only_timestamps_prove_that_a_late_batch_was_buffered(
    session: Session, monkeypatch: pytest.MonkeyPatch, events: list[Any], passed: bool | None
):
    monkeypatch.setattr(stream_health, "_SILENCE", 0.1)  # seconds, so that the test is fast
    async with agent(streaming(events, wait=0.2)) as url:
        report = await examine(session, url, "go")
    step = the(report, "streaming")
    assert step.passed is row(report, "streaming")[2] is passed
    assert step.message.startswith("3 events, the first after ")
    assert ("buffer" in step.remedy) is (passed is not True)


async def test_single_late_event_is_not_reported_as_buffered(session: Session):
    async with agent(streaming([{"task": task("COMPLETED")}], wait=0.2)) as url:
        report = await examine(session, url, "go")
    assert the(report, "streaming").passed


async def test_missing_declared_stream_is_reported(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] == "GetTask":
            return await knows_no_task(request, call)
        return result(call, {"task": task("COMPLETED")})

    async with agent(answer) as url:
        report = await examine(session, url, "go")
    step = the(report, "streaming")
    assert (step.passed, step.message) == (False, "the response is not a stream")
    assert "text/event-stream" in step.remedy
    assert row(report, "streaming")[2] is False


async def test_card_without_streaming_is_checked_without_streaming(session: Session):
    methods = []

    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        methods.append(call["method"])
        known = call["method"] == "SendMessage"
        return result(call, {"task": task("COMPLETED")}) if known else await knows_no_task(request, call)

    async with agent(answer, capabilities={}) as url:
        report = await examine(session, url, "go")
    assert methods == ["GetTask", "SendMessage"]
    assert the(report, "message").passed
    assert row(report, "streaming") == ("not declared", "not checked", None)


async def test_rejected_message_is_reported_without_waiting_for_push(session: Session):
    async with agent(knows_no_task, capabilities={"streaming": True, "pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    step = the(report, "streaming")
    assert step.passed is False
    assert step.remedy
    assert the(report, "push").passed is None


async def test_missing_push_is_reported(session: Session):
    can = {"streaming": True, "pushNotifications": True}
    async with agent(streaming(UPDATES), capabilities=can) as url:
        report = await examine(session, url, "go")
    step = the(report, "push")
    assert step.passed is False
    assert step.message.startswith("0 accepted, 0 rejected at http://127.0.0.1:")
    assert "--public-url" in step.remedy
    assert row(report, "push notifications")[::2] == ("yes", False)


async def test_a_missing_push_is_no_failure_while_the_task_is_running(session: Session):
    async with agent(streaming(UPDATES[:2]), capabilities={"streaming": True, "pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    assert the(report, "push").passed is None
    assert the(report, "push").message.endswith("; the task has not ended")


async def test_push_is_not_expected_without_a_task(session: Session):
    message = {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]}}
    async with agent(streaming([message]), capabilities={"streaming": True, "pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    assert the(report, "push").passed is None
    assert report.passed


async def test_push_without_its_token_is_reported_as_rejected(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] == "GetTask":
            return await knows_no_task(request, call)
        config = call["params"]["configuration"]["taskPushNotificationConfig"]
        async with ClientSession() as client, client.post(config["url"], json=UPDATES[-1]) as response:
            assert response.status == 401
        return result(call, {"task": task("COMPLETED")})

    async with agent(answer, capabilities={"pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    step = the(report, "push")
    assert step.passed is False
    assert step.message.startswith("0 accepted, 1 rejected")
    assert "checks" in step.remedy


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


async def test_password_in_the_reference_is_masked_everywhere(tmp_path: Path):
    seen = []

    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        seen.append(request.headers.get("Authorization", ""))
        return failure(call, -32000, "user:s3cret-word is unknown, and so is s3cret-word")

    session = Session(tmp_path / "capture", Settings())
    async with agent(answer) as url:
        report = await examine(session, url.replace("://", "://user:s3cret-word@"))
    kept = repr(session.journal.capture.select())
    await session.close()
    assert seen[0].startswith("Basic ")
    assert "s3cret-word" not in repr(report)
    assert "s3cret-word" not in kept
    assert the(report, AS_1_0).passed is False


async def test_layers_are_not_checked_behind_a_proxy(
    session: Session, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{unused_tcp_port}")
    monkeypatch.setenv("no_proxy", "")
    report = await examine(session, "http://agent.invalid")
    step = the(report, "proxy")
    assert step.passed is None
    assert str(unused_tcp_port) in step.message
    assert report.fault is not None


@pytest.mark.parametrize(
    ("answer", "seen", "remedy"),
    [
        (web.HTTPFound("/login?next=/"), "a redirect to a login page: ", "Only a browser can log in there"),
        (web.Response(status=407), "The proxy requires credentials for the card", "to the URL of the proxy"),
    ],
    ids=["login page", "proxy"],
)
async def test_a_login_in_front_of_the_card_is_named(session: Session, answer: web.Response, seen: str, remedy: str):
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/login":
            return web.Response(text="<html>Log in</html>", content_type="text/html")
        return web.Response(status=answer.status, headers=answer.headers)

    async with serving(handle) as url:
        report = await examine(session, url)
        with pytest.raises(FaultError, match=r"login page|proxy requires credentials"):
            await session.connect(url)
    step = the(report, "card")
    assert seen in step.message
    assert remedy in step.remedy
    assert report.fault is not None
    assert remedy in report.fault.hint


def test_each_rule_is_named_once_with_the_number_of_its_findings():
    found = [
        Finding(rule, Severity.ERROR, f"/{number}", "seen") for number, rule in enumerate(["CARD-001", "CARD-073"] * 2)
    ]
    assert in_words(found) == "CARD-001 seen (2 times); CARD-073 seen (2 times)"
    assert in_words(found + [Finding(f"CARD-09{number}", Severity.ERROR, "", "seen") for number in range(3)]) == (
        "CARD-001 seen (2 times); CARD-073 seen (2 times); CARD-090 seen; 2 more rules"
    )
    assert in_words([]) == ""
    assert see_rules(found) == "Run a2a-inspect rules CARD-001 CARD-073 for the requirement and the remedy."
