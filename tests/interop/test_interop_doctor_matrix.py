"""The doctor with agents of the official SDKs, behind proxies and at wrong URLs has the results in the table."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import doctor_table
import httpx
import pytest
import table
import trustme
from proxies import http2_only, proxy
from sdk_agent import Agent

from inspector.session.doctor.doctor import Doctor
from inspector.session.session import Session
from inspector.session.settings import Settings

pytestmark = pytest.mark.interop

TABLE = table.read_doctor()


def tls_context() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    return context


def grpc_port(url: str) -> str:
    card = httpx.get(f"{url}/.well-known/agent-card.json", trust_env=False).json()
    return next(item["url"] for item in card["supportedInterfaces"] if item["protocolBinding"] == "GRPC")


async def url_of(case: doctor_table.Case, agent: Agent, ends: AsyncExitStack) -> str:
    """Start what the case needs and return the URL for the doctor."""
    tls, url, http2 = tls_context() if case.tls else None, agent.url, ""
    if case.habits is not None:
        url = await ends.enter_async_context(proxy(agent.url, replace(case.habits, tls=tls)))
    if "{http2}" in case.entered:
        if tls is not None:
            tls.set_alpn_protocols(["h2"])
        http2 = await ends.enter_async_context(http2_only(tls))
    target = grpc_port(agent.url) if "{grpc}" in case.entered else ""
    return case.entered.format(url=url, netloc=urlsplit(url).netloc, grpc=target, http2=http2)


@pytest.mark.parametrize(
    ("agent", "name"), [(case.agent, name) for name, case in doctor_table.CASES.items()], indirect=["agent"]
)
async def test_the_doctor_has_the_verdict_in_the_table(
    agent: Agent, name: str, tmp_path: Path, record_property: Callable[[str, object], None]
):
    case = doctor_table.CASES[name]
    session = Session(tmp_path / "capture", Settings(insecure=True))
    try:
        async with AsyncExitStack() as ends:
            doctor = Doctor(session, await url_of(case, agent, ends), "push")
            async for _ in doctor.examine():
                pass
    finally:
        await session.close()
    seen = doctor_table.seen(doctor.report, case)
    record_property("doctor", [name, seen])
    assert doctor.report.passed is case.passed, seen
    assert case.words in seen
    assert seen == TABLE.get(name, "nothing"), (
        "docs/compatibility.md has another result; a complete run updates the file"
    )
