"""No record, file or text of a session contains a secret, even if an agent repeats it."""

from __future__ import annotations

import sqlite3
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from scripted import (
    CARD_PATH,
    Agent,
    Heard,
    OpenSession,
    artifact,
    card_of,
    drive,
    frame,
    giving,
    message,
    old_card_of,
    records,
    redirecting,
    say,
    status,
    streaming,
    task,
)

from inspector.protocol.errors import FaultError
from inspector.session.session import Session

CANARY = "canary-9d1f7c"
SECRETS: dict[str, dict[str, Any]] = {
    "bearer": {"headers": {"Authorization": f"Bearer {CANARY}"}},
    "header": {"headers": {"X-Custom": CANARY}},
    "service parameter": {"headers": {"X-Tenant-Param": f"{CANARY}/ü\"'"}},
    "API key in a header": {"api_key": CANARY},
    "API key in the query": {"api_key": CANARY, "place": {"location": "query", "name": "k"}},
    "API key in a cookie": {"api_key": CANARY, "place": {"location": "cookie", "name": "sid"}},
    "user and password": {"userinfo": f"me:{CANARY}"},
    "query": {"query": f"?access_token={CANARY}"},
}


def kept(session: Session) -> bytes:
    """Return all bytes of a closed session on the disk, and all columns of its records."""
    path = Path(session.journal.capture.path)
    raw = b"".join(file.read_bytes() for file in path.parent.iterdir())
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT * FROM record").fetchall()
    return raw + repr(rows).encode()


def said(session: Session) -> str:
    """Return the texts that a session has in memory."""
    attempts = session.connection.attempts if session.connection else ()
    summaries = [session.journal.exchanges.get(record.exchange) for record in records(session)]
    return f"{records(session)} {attempts} {summaries}"


@pytest.fixture
async def parrot(agent: Agent) -> Agent:
    """An agent that repeats everything that it received, wherever it can."""

    async def rpc(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        text = _received(heard)
        identity = heard.json["id"]
        if "sendmessage" in heard.json["method"].lower():
            error = {"code": -32000, "message": text, "data": {"told": text, "headers": heard.headers}}
            return await giving({"jsonrpc": "2.0", "id": text, "error": error}, headers=_echo(heard))(request, heard)
        return await streaming(
            f": {text}\n\n".encode(),
            frame({"task": task("WORKING")}, identity),
            frame(status("WORKING", text), identity),
            frame(status(text), text),
            frame(artifact(text, name=text), identity),
            frame({"kind": text}, identity),
            frame(status("WORKING", "x" * 190 + text), identity),
            f"data: {text} is not JSON\n\n".encode(),
            f"event: {text}\nid: {text}\ndata: {{}}\n\n".encode(),
            f"data: unfinished {text}".encode(),
        )(request, heard)

    async def card(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        text = _received(heard)
        served = card_of(f"{agent.url}/rpc", name=text, description=text, iconUrl=f"{agent.url}{heard.path}")
        if place := agent.__dict__.get("place"):
            served["securitySchemes"] = {"key": {"apiKeySecurityScheme": place}}
        return await giving(served, headers=_echo(heard))(request, heard)

    agent.routes |= {"/rpc": rpc, CARD_PATH: card}
    return agent


def _received(heard: Heard) -> str:
    return " ".join([heard.path, *(f"{name}: {value}" for name, value in heard.headers.items())])


def _echo(heard: Heard) -> dict[str, str]:
    sent = heard.headers.get("Authorization") or heard.headers.get("X-Custom") or heard.headers.get("X-API-Key", "")
    return {"X-Echo": sent, "X-Path": heard.path}


def connected(secret: dict[str, Any], agent: Agent) -> tuple[str, dict[str, Any]]:
    """Return the reference and the settings with a secret."""
    agent.__dict__["place"] = secret.get("place")
    settings = {name: value for name, value in secret.items() if name in ("headers", "api_key")}
    url = agent.url.replace("://", f"://{secret['userinfo']}@") if "userinfo" in secret else agent.url
    return url + secret.get("query", ""), settings


@pytest.mark.parametrize("kind", SECRETS)
async def test_a_secret_that_an_agent_repeats_is_not_recorded(parrot: Agent, open_session: OpenSession, kind: str):
    url, settings = connected(SECRETS[kind], parrot)
    session = await open_session(url, **settings)
    streamed = await say(session, "hello")
    answered = await say(session, "hello", stream=False)
    faults = f"{streamed.fault and streamed.fault.sentence()} {answered.fault and answered.fault.seen}"
    shown = said(session)
    await session.close()
    heard = "".join(f"{request.path} {request.headers}" for request in parrot.heard)
    assert CANARY in heard or b64encode(f"me:{CANARY}".encode()).decode() in heard
    for secret in (CANARY, b64encode(f"me:{CANARY}".encode()).decode()):
        assert not [shown[max(0, at - 80) : at + 40] for at in range(len(shown)) if shown.startswith(secret, at)]
        assert secret not in faults
        assert secret.encode() not in kept(session)
    assert b"****" in kept(session)


@pytest.mark.parametrize("kind", ["bearer", "user and password", "query"])
@pytest.mark.parametrize(
    "answer",
    [
        giving(b"", status=404),
        giving(b"", status=401),
        giving(f'{{"name": "{CANARY}", "supportedInterfaces": "{CANARY}"}}'.encode()),
        redirecting(f"http://no-such-host.invalid/?token={CANARY}"),
        redirecting(f"http://me:{CANARY}@[/"),
        giving(f"<html>{CANARY}".encode(), content_type="text/html"),
    ],
    ids=["404", "401", "misread", "redirected", "redirected nowhere", "a page"],
)
async def test_the_error_of_a_failed_connection_contains_no_secret(
    agent: Agent, open_session: OpenSession, kind: str, answer: Any
):
    agent.routes[CARD_PATH] = answer
    url, settings = connected(SECRETS[kind], agent)
    session = await open_session(**settings)
    with pytest.raises(FaultError) as raised:
        await session.connect(url)
    assert CANARY not in str(raised.value)
    shown = said(session)
    await session.close()
    assert CANARY not in shown
    assert CANARY.encode() not in kept(session)


async def test_the_error_of_a_refused_connection_contains_no_secret(open_session: OpenSession):
    session = await open_session()
    with pytest.raises(FaultError) as raised:
        await session.connect(f"http://me:{CANARY}@127.0.0.1:1/?access_token={CANARY}")
    await session.close()
    assert CANARY not in str(raised.value)
    assert CANARY.encode() not in kept(session)


async def test_a_secret_in_an_interface_url_is_not_recorded(agent: Agent, open_session: OpenSession):
    place = agent.url.replace("://", f"://me:{CANARY}@")
    agent.routes["/rpc"] = redirecting(f"{place}/?client_secret={CANARY}")
    agent.routes[CARD_PATH] = giving(old_card_of(f"{place}/rpc?token={CANARY}"))
    session = await open_session(agent.url)
    call = await say(session)
    shown = f"{[record for record in records(session) if record.operation != 'GetAgentCard']}"
    assert call.fault is not None
    assert CANARY not in call.fault.seen
    assert CANARY not in shown
    assert agent.calls[0].headers["Authorization"].startswith("Basic ")


async def test_values_that_are_not_secret_are_recorded(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(message("hi")))
    session = await open_session(agent.url, headers={"A2A-Extensions": "https://example.com/x", "X-Request-Id": "r-1"})
    await say(session)
    await drive(session.get("t"))
    await session.close()
    assert b"https://example.com/x" in kept(session)
    assert b"r-1" in kept(session)


async def test_cutting_a_label_does_not_expose_a_secret(open_session: OpenSession):
    session = await open_session(headers={"Authorization": f"Bearer {CANARY}"})
    session.note("x" * 195 + CANARY)
    assert records(session)[-1].label == "x" * 195 + "****"
