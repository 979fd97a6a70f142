"""The doctor on connections that fail: names, ports, TLS, proxies, and agents that do not respond."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web
from examining import (
    ADDRESS,
    AS_0_3,
    AS_1_0,
    agent,
    examine,
    knows_no_task,
    serving,
    the,
)
from stream_servers import serving_bytes

from inspector.protocol.errors import FaultCode
from inspector.session.doctor.doctor import CARD_CONTENT, Doctor
from inspector.session.doctor.steps import Timeouts
from inspector.session.session import Session


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_refused_connection_ends_the_checks(session: Session, host: str, closed_port: int):
    report = await examine(session, f"http://{host}:{closed_port}")
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
    assert "has no valid host or port" in step.message
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

    async with serving_bytes(hang_up) as place:
        report = await examine(session, f"https://{place}")
    step = the(report, "tls")
    assert step.passed is False
    assert "http://" in step.remedy


async def test_interface_without_listener_is_not_called(session: Session, closed_port: int):
    async with agent(knows_no_task, url=f"http://127.0.0.1:{closed_port}/rpc") as url:
        report = await examine(session, url)
    step = the(report, ADDRESS)
    assert step.passed is False
    assert "Nothing listens" in step.message
    assert step.remedy
    assert not [one for one in report.steps if one.name.startswith("interface 1 as ")]


async def test_a_port_without_listener_is_tried_at_the_port_of_the_card(session: Session, closed_port: int):
    async with agent(knows_no_task, url=f"http://127.0.0.1:{closed_port}/rpc") as url:
        [proposal] = (await examine(session, url)).proposals
    assert proposal.choice.interface.url == f"{url}/rpc"


async def test_too_many_requests_are_no_verdict_about_an_interface(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        return web.Response(status=429)

    async with agent(answer) as url:
        report = await examine(session, url)
    assert the(report, AS_1_0).passed is None
    assert (report.steps[-1].message, report.passed) == ("none of the interfaces could be checked", False)
    assert not [step for step in report.steps if step.name == AS_0_3]


async def test_interface_url_without_host_is_reported(session: Session):
    async with agent(knows_no_task, url="http://[oops/rpc") as url:
        report = await examine(session, url)
    step = the(report, ADDRESS)
    assert (step.passed, step.remedy) == (False, "Correct the URL on the card.")


async def test_agent_without_response_does_not_block_the_doctor(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        return await asyncio.Event().wait()  # type: ignore[return-value]

    async with agent(answer) as url:
        doctor = Doctor(session, url)
        async for step in doctor.examine():
            if step.name == CARD_CONTENT:  # the card itself may be slow on a busy machine
                doctor._timeouts = Timeouts(call=0.2)
    step = the(doctor.report, AS_1_0)
    assert step.passed is False
    assert step.message == "no response within 0.2 s"
    assert step.remedy
    assert session.journal.exchanges.open == 0


async def test_a_host_that_serves_its_card_only_once_does_not_block_the_doctor(session: Session):
    fetched: set[str] = set()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path in fetched:
            return await asyncio.Event().wait()  # type: ignore[return-value]
        fetched.add(request.path)
        return web.json_response({"name": "Agent", "url": "http://127.0.0.1:1/"})

    async with serving(handle) as url:
        report = await examine(session, url, timeouts=Timeouts(call=0.5))
    assert report.steps[-1].name == "card"
    assert report.steps[-1].message == f"no response within {0.5 * (len(fetched) + 1):g} s"


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


async def test_layers_are_not_checked_behind_a_proxy(
    session: Session, monkeypatch: pytest.MonkeyPatch, closed_port: int
):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port}")
    monkeypatch.setenv("no_proxy", "")
    report = await examine(session, "http://agent.invalid")
    step = the(report, "proxy")
    assert step.passed is None
    assert str(closed_port) in step.message
    assert report.fault is not None
