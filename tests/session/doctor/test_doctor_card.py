"""The doctor on cards: where they are found, cards that are not valid, and cards behind a login."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import grpc
import pytest
from aiohttp import web
from examining import (
    AS_0_3,
    AS_1_0,
    WELL_KNOWN,
    agent,
    examine,
    failure,
    knows_no_task,
    row,
    serving,
    the,
)

from inspector.protocol.errors import FaultCode, FaultError
from inspector.session.session import Session
from inspector.session.settings import Settings


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


@pytest.mark.parametrize(
    ("description", "seen"),
    [
        ("Denied. The token is malformed", "credentials are required (401)"),
        ("the token has expired", "credentials are required (401): the token has expired."),
    ],
)
async def test_the_cause_of_a_denial_is_not_read_out_of_the_words_of_the_agent(
    session: Session, description: str, seen: str
):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        challenge = f'Bearer error="invalid_token", error_description="{description}"'
        return web.Response(status=401, headers={"WWW-Authenticate": challenge})

    async with agent(answer) as url:
        report = await examine(session, url)
    assert the(report, AS_1_0).message == seen


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
    assert compared.message == "demanded: Bearer; declared: none required; sent in Authorization: none"
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
    async with agent(knows_no_task, interface={"tenant": 5}) as url:
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


async def test_a_403_without_a_challenge_does_not_show_that_credentials_are_required(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        return web.Response(status=403)

    async with agent(answer) as url:
        report = await examine(session, url)
    step = the(report, AS_1_0)
    assert (step.passed, step.message) == (False, "the request was refused (403)")
    assert step.remedy.startswith("A refusal can have other reasons than credentials")
    assert row(report, "credentials") == ("none required", "unknown: the request was refused", None)
    assert row(report, "streaming")[1] == "not checked: the request was refused"


@pytest.mark.parametrize(
    ("status", "result"),
    [("UNAUTHENTICATED", "credentials are required"), ("PERMISSION_DENIED", "the request was refused")],
)
async def test_a_denial_over_grpc_is_reported(session: Session, status: str, result: str):
    class Closed(grpc.aio.ServerInterceptor):  # type: ignore[misc] # grpc has no types
        async def intercept_service(self, continuation: Any, details: Any) -> Any:
            async def refuse(request: bytes, context: Any) -> None:
                await context.abort(grpc.StatusCode[status], "who are you?")

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
    assert (step.passed, step.message) == (False, f"{result} ({status})")
    assert [step.name for step in report.steps if step.name.startswith("interface 1 as")] == [step.name]


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
