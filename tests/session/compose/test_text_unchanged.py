"""A text is never changed on its way: to the agent over every transport, into a snippet and back, into the history."""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc.aio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from properties import examples
from scripted import Agent, answering, card_of, drive, giving, scripted, task

from inspector.capture.redaction import Redactor
from inspector.protocol.bindings import protobuf
from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.session.compose.history import MessageHistory, SavedDraft
from inspector.session.compose.snippets import as_toml, load, read, save, write
from inspector.session.session import Session
from inspector.session.settings import Settings

ODD = [
    "a < b & c",
    "\ttab\t",
    "ends in newlines\n\n",
    "\n begins with one",
    "dos\r\nlines\r\n",
    "old mac\rlines",
    "\u2028\u2029\x85\x0b\x0c\x1c",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 \u202eright to left\u202c",
    "NUL \0 and \x01\x1b[31m\x7f",
    "  ",
    "",
    "\ufeffbom",
    "\\r\\n \\u0041 \\",
    "\"'`$(){}[]%s {{name}} {{file:/etc/passwd}}",
    '"""',
    "'''\n\"\"\"\n\\",
    "e\u0301 is not \u00e9",
    "\ufffd\uffff\U0010ffff",
]
TEXTS = st.lists(st.one_of(st.sampled_from(ODD), st.text()), min_size=1, max_size=6)
RELAXED = settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])

Say = Callable[[str, list[str]], list[str]]


def of_texts(texts: list[str]) -> Draft:
    return Draft(tuple(DraftPart(PartKind.TEXT, text) for text in texts))


@pytest.fixture
def say(tmp_path: Path) -> Iterator[Say]:
    """Send texts over a transport to a server that keeps what it got, and return what that was."""
    loop = asyncio.new_event_loop()
    run = loop.run_until_complete
    got: list[Any] = []

    async def keep(raw: bytes, context: Any) -> bytes:
        got.append(protobuf.read("v1_0", "SendMessageRequest", raw))
        return protobuf.write("v1_0", "SendMessageResponse", {"task": task("COMPLETED")})

    async def opened() -> tuple[Session, Agent, Callable[[], Coroutine[Any, Any, None]]]:
        context = scripted()
        agent = await context.__aenter__()
        server = grpc.aio.server()
        methods = {"SendMessage": grpc.unary_unary_rpc_method_handler(keep)}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("lf.a2a.v1.A2AService", methods),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        agent.routes["/rpc"] = answering({"task": task("COMPLETED")})
        agent.routes["/rest/message:send"] = giving({"task": task("COMPLETED")})
        places = {"JSONRPC": f"{agent.url}/rpc", "HTTP+JSON": f"{agent.url}/rest", "GRPC": f"127.0.0.1:{port}"}
        offered = [{"url": url, "protocolBinding": name, "protocolVersion": "1.0"} for name, url in places.items()]
        (tmp_path / "card.json").write_text(json.dumps(card_of("", supportedInterfaces=offered)))
        session = Session(tmp_path / "capture.a2a", Settings())

        async def close() -> None:
            await session.close()
            await server.stop(None)
            await context.__aexit__(None, None, None)

        return session, agent, close

    session, agent, close = run(opened())

    async def through(binding: str, texts: list[str]) -> list[str]:
        if session.connection is None or session.choice.binding.name != binding:
            session.settings = replace(session.settings, transports=(binding,))
            await session.connect(str(tmp_path / "card.json"))
        turn = await drive(session.send(of_texts(texts), stream=False))
        assert turn.fault is None, turn.fault
        if binding == "GRPC":
            message = got[-1]["message"]
        else:
            sent = agent.heard[-1].json
            message = sent["params"]["message"] if binding == "JSONRPC" else sent["message"]
        return [part["text"] for part in message["parts"]]

    yield lambda binding, texts: run(through(binding, texts))
    run(close())
    loop.close()


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON", "GRPC"])
def test_the_agent_gets_every_text_as_it_was_written(say: Say, binding: str):
    assert say(binding, ODD) == ODD

    @RELAXED
    @given(TEXTS)
    def any_text(texts: list[str]) -> None:
        assert say(binding, texts) == texts

    any_text()


@pytest.mark.parametrize(("typed", "sent"), [("caf\udce9", "caf\ufffd"), ("half \ud83d", "half \ufffd\ufffd\ufffd")])
def test_what_is_no_text_is_sent_as_far_as_it_is_one(say: Say, typed: str, sent: str):
    assert say("JSONRPC", [typed]) == [sent]


PART = st.builds(
    DraftPart,
    st.sampled_from([PartKind.TEXT, PartKind.DATA, PartKind.LINK]),
    st.one_of(st.sampled_from(ODD), st.text()),
    media_type=st.text(max_size=5),
    filename=st.text(max_size=5),
    metadata=st.sampled_from(["", '{"a" :  1}', "{not json", "\r\n"]),
)
WORDS = st.lists(st.text(min_size=1, max_size=5), max_size=3).map(tuple)
DRAFT = st.builds(
    Draft,
    st.lists(PART, max_size=4).map(tuple),
    task_id=st.text(max_size=5),
    context_id=st.text(max_size=5),
    references=WORDS,
    metadata=st.text(max_size=5),
    extensions=WORDS,
    blocking=st.booleans(),
    history_length=st.none() | st.integers(0, 2**31),
    accepted_output_modes=WORDS,
    request_metadata=st.text(max_size=5),
    tenant=st.text(max_size=5),
    svc_params=st.dictionaries(st.text(min_size=1, max_size=5), st.text(max_size=5), max_size=2).map(
        lambda found: tuple(found.items())
    ),
    message_id=st.just("m"),
    request_id=st.just("r"),
)


def same(one: Draft, other: Draft) -> bool:
    return replace(one, message_id="m", request_id="r") == replace(other, message_id="m", request_id="r")


@RELAXED
@given(DRAFT, st.text())
def test_a_draft_goes_into_toml_and_back(draft: Draft, title: str):
    found = read(tomllib.loads(as_toml(write(title, draft))))
    assert found.title == title
    assert same(found.draft, draft)
    assert read(tomllib.loads(as_toml(write("", draft, whole=True)))).draft.message_id == "m"


@RELAXED
@given(DRAFT)
def test_a_draft_goes_into_a_snippet_file_and_back(tmp_path: Path, draft: Draft):
    path = tmp_path / "x.a2a.toml"
    save(path, "x", draft, replacing=True)
    assert same(load(path).draft, draft)


@settings(RELAXED, max_examples=examples(25))
@given(DRAFT)
def test_a_draft_goes_into_the_history_and_back(tmp_path: Path, draft: Draft):
    history = MessageHistory(Redactor(), tmp_path)
    assert history.add(draft, "http://agent.example", 1.0) == ""
    newest, *_ = history.load()[0]
    params = tuple(
        (name, value) for (name, _), (_, value) in zip(draft.svc_params, newest.draft.svc_params, strict=True)
    )
    assert same(newest.draft, replace(draft, svc_params=params))


@settings(RELAXED, max_examples=examples(25))
@given(DRAFT)
def test_the_kept_draft_comes_back_with_its_id(tmp_path: Path, draft: Draft):
    kept = SavedDraft(Redactor(), "http://agent.example", tmp_path)
    draft = replace(draft, svc_params=())
    kept.keep(draft)
    found = kept.load()
    if draft.is_blank:
        assert found is None
    else:
        assert found is not None
        assert same(found, draft)
        assert found.message_id == "m"


def test_every_odd_text_survives_a_file_on_disk(tmp_path: Path):
    path = tmp_path / "odd.a2a.toml"
    save(path, "odd", of_texts(ODD))
    assert [part.value for part in load(path).draft.parts] == ODD
    assert b"\r" not in path.read_bytes(), "a checkout that turns line ends does not turn those of a text"
