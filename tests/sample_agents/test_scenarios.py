"""Scenarios: each built-in scenario over real sockets, selection, steps after a question, reloading."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.scenario import catalog
from inspector.sample_agents.scenario.catalog import BUILT_IN_FOLDER, Scenarios
from inspector.sample_agents.scenario.reading import read_scenario
from inspector.sample_agents.scenario.running import current_turn_steps
from inspector.sample_agents.scenario.toml_table import ScenarioError
from inspector.sample_agents.server import MockAgent
from mock_peer import Peer, eventually, peer_for, say, state_of, text_of

from inspector.protocol.model import Message, Part, SendConfiguration, TaskArtifactUpdateEvent, TaskRequest
from inspector.protocol.operations import Operation

HEAD = 'description = "A test."\n'
WAITING = """
[[steps]]
auth-required = "Log in elsewhere."
resumes = true
[[steps]]
wait = {seconds}
[[steps]]
working = "Go."
"""


@pytest.fixture(params=[("1.0", "JSONRPC"), ("1.0", "GRPC"), ("0.3", "HTTP+JSON")], ids=" ".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Three combinations are enough: scenarios do not depend on them."""
    return request.param  # type: ignore[no-any-return]


STATES = {
    "approval": ["submitted", "working", "auth_required"],
    "ask": ["submitted", "working", "input_required"],
    "authorize": ["submitted", "working", "auth_required"],
    "careless": ["submitted", "working", "artifact", "completed"],
    "echo": ["message"],
    "extensions": ["submitted", "working", "artifact", "working", "artifact", "artifact", "completed"],
    "fail": ["submitted", "working", "failed"],
    "file": ["submitted", "working", "artifact", "completed"],
    "firehose 40": ["submitted", *["working"] * 40, "completed"],
    "form": ["submitted", "working", "input_required"],
    "image": ["submitted", "working", "artifact", "completed"],
    "interview": ["submitted", "working", "input_required"],
    "long 2": ["submitted", "working", "working", "completed"],
    "many 2": ["submitted", "working", *["artifact"] * 6, "completed"],
    "mixed": ["submitted", "working", "artifact", "completed"],
    "push": ["submitted", *["working"] * 4, "artifact", "completed"],
    "reject": ["submitted", "rejected"],
    "report 3": ["submitted", "working", *["artifact"] * 3, "completed"],
    "unicode": ["submitted", "working", *["artifact"] * 7, "completed"],
}


def test_every_built_in_scenario_is_tested_here():
    assert {words.split()[0] for words in STATES} == {path.stem for path in BUILT_IN_FOLDER.glob("*.toml")}


@pytest.mark.parametrize("words", STATES)
async def test_a_built_in_scenario_sends_its_events(peer: Peer, words: str):
    assert [state_of(event) for event in await peer.events(words)] == STATES[words]


async def converse(peer: Peer, *replies: str) -> Any:
    task = await peer.send(replies[0])
    for words in replies[1:]:
        task = await peer.send(words, task_id=task.id)
    return task


@pytest.mark.parametrize(
    ("replies", "state", "artifacts"),
    [
        (("interview", "Ada", "yes, please"), "completed", ["Your answer in message 3: yes, please"]),
        (("interview", "Ada", "No!"), "completed", []),
        (("interview", "Ada", "perhaps"), "input_required", []),
        (("interview", "Ada", "perhaps", "well", "y"), "completed", ["Your answer in message 5: y"]),
        (("approval", "Approve it"), "completed", []),
        (("approval", "never"), "rejected", []),
        (("form", "Lisbon"), "completed", ["Your answer: Lisbon"]),
    ],
)
async def test_the_replies_select_the_next_steps(
    peer: Peer, replies: tuple[str, ...], state: str, artifacts: list[str]
):
    task = await converse(peer, *replies)
    assert state_of(task) == state
    assert [text_of(artifact.parts) for artifact in task.artifacts or []] == artifacts


async def test_a_task_that_resumes_continues_without_a_reply(session: aiohttp.ClientSession, tmp_path: Path):
    write(tmp_path, "later", WAITING.format(seconds=1))
    agent = MockAgent(behaviours=Scenarios((tmp_path,)), pace=0.1)
    await agent.start()
    try:
        peer = peer_for(session, agent, "1.0")
        task = await peer.send("later")
        assert state_of(task) == "auth_required"
        record = agent.store.find(task.id)
        await eventually(lambda: record.ended)
        assert (state_of(await peer.task(task.id)), record.turns) == ("completed", 1)
    finally:
        await agent.stop()


async def test_a_task_that_resumes_can_be_canceled_and_takes_messages(session: aiohttp.ClientSession, tmp_path: Path):
    write(tmp_path, "later", WAITING.format(seconds=60))
    agent = MockAgent(behaviours=Scenarios((tmp_path,)))
    await agent.start()
    try:
        peer = peer_for(session, agent, "1.0")
        task = await peer.send("later")
        wait = SendConfiguration(return_immediately=True)
        assert state_of(await peer.send("hello", configuration=wait, task_id=task.id)) == "working"
        assert agent.running == 1
        assert state_of(await peer.call(Operation.CANCEL, TaskRequest(id=task.id))) == "canceled"
        await eventually(lambda: agent.running == 0)
    finally:
        await agent.stop()


async def test_a_form_has_a_schema_and_accepts_data(peer: Peer):
    task = await peer.send("form")
    words, form = task.status.message.parts
    assert words.text == "Where does the parcel go?"
    assert form.data["properties"]["parcels"]["maximum"] == 9
    message = Message(message_id="m", role="ROLE_USER", parts=[Part(data={"city": "Lisbon"})], task_id=task.id)
    done: Any = await peer.call(Operation.SEND, say("x").model_copy(update={"message": message}))
    assert text_of(done.artifacts[0].parts) == 'Your answer: {"city":"Lisbon"}'


async def test_chunks_of_an_artifact_can_be_sent_between_others(peer: Peer):
    task = await peer.send("many 2")
    assert {artifact.name: text_of(artifact.parts) for artifact in task.artifacts} == {
        "log.txt": "The log begins.\nPage 0 is written.\nPage 1 is written.\nThe log ends.\n",
        "page-0.md": "# Page 0\n\nOne of 2.\n",
        "page-1.md": "# Page 1\n\nOne of 2.\n",
    }
    assert len({artifact.artifact_id for artifact in task.artifacts}) == 3


async def test_unicode_text_is_complete_after_chunking(peer: Peer):
    events = await peer.events("unicode")
    chunks = [event.artifact for event in events if isinstance(event, TaskArtifactUpdateEvent)]
    [source] = [step for step in read_scenario(BUILT_IN_FOLDER / "unicode.toml").response if hasattr(step, "chunks")]
    assert "".join(text_of(chunk.parts) for chunk in chunks) == source.parts[0].text
    assert {chunk.name for chunk in chunks} == {"scripts-ünïcode-脚本.md"}


# Selection


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(HEAD + text, "utf-8")
    return path


def selected(scenarios: Scenarios, text: str, **members: Any) -> str:
    message = Message(message_id=members.pop("message_id", "m"), role="ROLE_USER", parts=[Part(text=text)], **members)
    return scenarios.choose(message).skill.id


def test_a_message_selects_by_skill_then_id_then_first_word_then_default(tmp_path: Path):
    write(tmp_path, "one", 'message_ids = ["one-"]\nwords = ["uno", "one"]\nsteps = [{ message = "1" }]')
    write(tmp_path, "two", 'message_ids = ["one-two-"]\nsteps = [{ message = "2" }]')
    scenarios = Scenarios((tmp_path,))
    assert selected(scenarios, "UNO, please") == "echo"
    assert selected(scenarios, "Uno please") == "one"
    assert selected(scenarios, "uno", message_id="one-two-3") == "two"
    assert selected(scenarios, "uno", message_id="one-3") == "one"
    assert selected(scenarios, "two", message_id="one-3", metadata={"skillId": "report"}) == "report"
    assert selected(scenarios, "two", metadata={"skillId": ["report"]}) == "two"
    assert selected(scenarios, "") == "echo"


def test_a_scenario_replaces_a_built_in_scenario_with_the_same_id(tmp_path: Path):
    path = write(tmp_path, "echo", 'default = true\nsteps = [{ message = "no echo here" }]')
    scenarios = Scenarios((path,))
    assert [skill.description for skill in scenarios.skills if skill.id == "echo"] == ["A test."]
    other = write(tmp_path, "other", 'default = true\nsteps = [{ message = "mine" }]')
    assert selected(Scenarios((path, other)), "anything") == "other"


def test_the_skills_to_start_with_are_first():
    assert [skill.id for skill in Scenarios().skills][:7] == ["echo", "report", "file", "ask", "fail", "long", "push"]


def test_a_missing_path_and_an_invalid_file_are_rejected(tmp_path: Path):
    with pytest.raises(ScenarioError, match="does not exist"):
        Scenarios((tmp_path / "nowhere",)).load()
    write(tmp_path, "bad", "steps = 3")
    with pytest.raises(ScenarioError, match=r"bad\.toml:2"):
        Scenarios((tmp_path,)).load()


# Turns


def test_the_messages_of_a_task_determine_its_position(tmp_path: Path):
    path = write(
        tmp_path,
        "loop",
        'number = { default = 2, most = 3 }\nsteps = [ { repeat = "{number}", steps = ['
        '{ input-required = "{index} of {total}: {text}" } ] }, { completed = "{turn} {words}" } ]',
    )
    scenario = read_scenario(path)
    messages = [
        Message(message_id="m", role="ROLE_USER", parts=[Part(text=text)]) for text in ("loop 9", "a", "b", "c")
    ]

    def texts(turn: int) -> list[str]:
        steps: Any = scenario.response
        return [
            context.fill(step.parts[0].text) for step, context in current_turn_steps(scenario, steps, messages[:turn])
        ]

    assert [texts(turn) for turn in (1, 2, 3, 4)] == [["0 of 3: loop 9"], ["1 of 3: a"], ["2 of 3: b"], ["4 c"]]


# Reloading


@pytest.fixture
async def written_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: aiohttp.ClientSession
) -> AsyncIterator[tuple[Path, Peer]]:
    """An agent with its own scenario, whose file is checked for changes at each message."""
    monkeypatch.setattr(catalog, "_RECHECK_SECONDS", 0.0)
    path = write(tmp_path, "mine", 'steps = [{ message = "first: {words}" }]')
    agent = MockAgent(behaviours=Scenarios((tmp_path,)), pace=0)
    await agent.start()
    yield path, peer_for(session, agent, "1.0")
    await agent.stop()


def rewrite(path: Path, text: str) -> None:
    before = path.stat().st_mtime_ns
    path.write_text(text, "utf-8")
    os.utime(path, ns=(before + 1_000_000, before + 1_000_000))


async def test_a_change_shows_in_the_next_message(written_agent: tuple[Path, Peer]):
    path, peer = written_agent
    assert text_of((await peer.send("mine a b")).parts) == "first: a b"
    rewrite(path, HEAD + 'steps = [{ message = "second: {text}" }]')
    assert text_of((await peer.send("mine a b")).parts) == "second: mine a b"
    write(path.parent, "new", 'steps = [{ message = "new here" }]')
    assert text_of((await peer.send("new")).parts) == "new here"
    path.unlink()
    assert text_of((await peer.send("mine a b")).parts) == "mine a b"


async def test_a_task_whose_scenario_was_removed_fails_with_the_reason(written_agent: tuple[Path, Peer]):
    path, peer = written_agent
    rewrite(path, HEAD + 'steps = [{ input-required = "Which?" }, { completed = "Thanks." }]')
    task = await peer.send("mine")
    path.unlink()
    failed = await peer.send("blue", task_id=task.id)
    assert state_of(failed) == "failed"
    assert text_of(failed.status.message.parts) == "The agent does not have the skill mine any more."


async def test_an_invalid_change_is_logged_once_and_ignored(
    written_agent: tuple[Path, Peer], caplog: pytest.LogCaptureFixture
):
    path, peer = written_agent
    await peer.send("mine a b")
    rewrite(path, HEAD + "steps = [\n{ mesage = 1 } ]")
    for _ in range(2):
        assert text_of((await peer.send("mine a b")).parts) == "first: a b"
    assert [record.getMessage().partition("mine.toml")[2][:3] for record in caplog.records] == [":3:"]
    rewrite(path, HEAD + 'steps = [{ message = "fixed" }]')
    assert text_of((await peer.send("mine")).parts) == "fixed"
