"""Scenarios at work: every one that ships, over real sockets; how one is chosen; what turns lead to; reloading."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.scenario import catalog
from inspector.sample_agents.scenario.catalog import SHIPPED, Scenarios
from inspector.sample_agents.scenario.reading import read_scenario
from inspector.sample_agents.scenario.running import turns
from inspector.sample_agents.scenario.toml_table import ScenarioError
from inspector.sample_agents.server import MockAgent
from mock_peer import Peer, peer_for, say, state_of, text_of

from inspector.protocol.model import Message, Part, TaskArtifactUpdateEvent
from inspector.protocol.operations import Operation

HEAD = 'description = "A test."\n'


@pytest.fixture(params=[("1.0", "JSONRPC"), ("1.0", "GRPC"), ("0.3", "HTTP+JSON")], ids=" ".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A few ways are enough: scenarios know nothing of them."""
    return request.param  # type: ignore[no-any-return]


STATES = {
    "approval": ["submitted", "working", "auth_required"],
    "ask": ["submitted", "working", "input_required"],
    "careless": ["submitted", "working", "artifact", "completed"],
    "echo": ["message"],
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


def test_every_scenario_that_ships_is_tried_here():
    assert {words.split()[0] for words in STATES} == {path.stem for path in SHIPPED.glob("*.toml")}


@pytest.mark.parametrize("words", STATES)
async def test_a_scenario_that_ships_does_what_it_says(peer: Peer, words: str):
    assert [state_of(event) for event in await peer.events(words)] == STATES[words]


async def converse(peer: Peer, *said: str) -> Any:
    task = await peer.send(said[0])
    for words in said[1:]:
        task = await peer.send(words, task_id=task.id)
    return task


@pytest.mark.parametrize(
    ("said", "state", "artifacts"),
    [
        (("interview", "Ada", "yes, please"), "completed", ["All that we know: you said yes, please, in turn 3."]),
        (("interview", "Ada", "No!"), "completed", []),
        (("interview", "Ada", "perhaps"), "input_required", []),
        (("interview", "Ada", "perhaps", "well", "y"), "completed", ["All that we know: you said y, in turn 5."]),
        (("approval", "Approve it"), "completed", []),
        (("approval", "never"), "rejected", []),
        (("form", "Lisbon"), "completed", ["What you gave us: Lisbon"]),
    ],
)
async def test_a_conversation_goes_where_its_answers_lead(
    peer: Peer, said: tuple[str, ...], state: str, artifacts: list[str]
):
    task = await converse(peer, *said)
    assert state_of(task) == state
    assert [text_of(artifact.parts) for artifact in task.artifacts or []] == artifacts


async def test_a_form_is_a_schema_and_takes_data(peer: Peer):
    task = await peer.send("form")
    words, form = task.status.message.parts
    assert words.text == "Where does the parcel go?"
    assert form.data["properties"]["parcels"]["maximum"] == 9
    message = Message(message_id="m", role="ROLE_USER", parts=[Part(data={"city": "Lisbon"})], task_id=task.id)
    done: Any = await peer.call(Operation.SEND, say("x").model_copy(update={"message": message}))
    assert text_of(done.artifacts[0].parts) == 'What you gave us: {"city":"Lisbon"}'


async def test_an_artifact_can_grow_between_others(peer: Peer):
    task = await peer.send("many 2")
    assert {artifact.name: text_of(artifact.parts) for artifact in task.artifacts} == {
        "log.txt": "The log begins.\nPage 0 is written.\nPage 1 is written.\nThe log ends.\n",
        "page-0.md": "# Page 0\n\nOne of 2.\n",
        "page-1.md": "# Page 1\n\nOne of 2.\n",
    }
    assert len({artifact.artifact_id for artifact in task.artifacts}) == 3


async def test_unicode_arrives_whole_however_it_is_cut(peer: Peer):
    events = await peer.events("unicode")
    chunks = [event.artifact for event in events if isinstance(event, TaskArtifactUpdateEvent)]
    [given] = [step for step in read_scenario(SHIPPED / "unicode.toml").does if hasattr(step, "chunks")]
    assert "".join(text_of(chunk.parts) for chunk in chunks) == given.parts[0].text
    assert {chunk.name for chunk in chunks} == {"scripts-ünïcode-脚本.md"}


# Choosing


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(HEAD + text, "utf-8")
    return path


def chosen(scenarios: Scenarios, text: str, **members: Any) -> str:
    message = Message(message_id=members.pop("message_id", "m"), role="ROLE_USER", parts=[Part(text=text)], **members)
    return scenarios.choose(message).skill.id


def test_a_message_chooses_by_skill_then_id_then_first_word_then_not_at_all(tmp_path: Path):
    written(tmp_path, "one", 'message_ids = ["one-"]\nwords = ["uno", "one"]\nsteps = [{ message = "1" }]')
    written(tmp_path, "two", 'message_ids = ["one-two-"]\nsteps = [{ message = "2" }]')
    scenarios = Scenarios((tmp_path,))
    assert chosen(scenarios, "UNO, please") == "echo"
    assert chosen(scenarios, "Uno please") == "one"
    assert chosen(scenarios, "uno", message_id="one-two-3") == "two"
    assert chosen(scenarios, "uno", message_id="one-3") == "one"
    assert chosen(scenarios, "two", message_id="one-3", metadata={"skillId": "report"}) == "report"
    assert chosen(scenarios, "two", metadata={"skillId": ["report"]}) == "two"
    assert chosen(scenarios, "") == "echo"


def test_a_scenario_of_the_same_id_stands_in_for_the_one_that_ships(tmp_path: Path):
    path = written(tmp_path, "echo", 'default = true\nsteps = [{ message = "no echo here" }]')
    scenarios = Scenarios((path,))
    assert [skill.description for skill in scenarios.skills if skill.id == "echo"] == ["A test."]
    other = written(tmp_path, "other", 'default = true\nsteps = [{ message = "mine" }]')
    assert chosen(Scenarios((path, other)), "anything") == "other"


def test_the_skills_that_one_begins_with_stand_first():
    assert [skill.id for skill in Scenarios().skills][:7] == ["echo", "report", "file", "ask", "fail", "long", "push"]


def test_a_path_to_nothing_and_a_file_that_makes_no_sense_are_refused_at_once(tmp_path: Path):
    with pytest.raises(ScenarioError, match="no such file"):
        Scenarios((tmp_path / "nowhere",)).load()
    written(tmp_path, "bad", "steps = 3")
    with pytest.raises(ScenarioError, match=r"bad\.toml:2"):
        Scenarios((tmp_path,)).load()


# Turns


def test_a_task_is_where_its_messages_have_brought_it(tmp_path: Path):
    path = written(
        tmp_path,
        "loop",
        'number = { default = 2, most = 3 }\nsteps = [ { repeat = "{number}", steps = ['
        '{ input-required = "{index} of {total}: {text}" } ] }, { completed = "{turn} {words}" } ]',
    )
    scenario = read_scenario(path)
    messages = [
        Message(message_id="m", role="ROLE_USER", parts=[Part(text=text)]) for text in ("loop 9", "a", "b", "c")
    ]

    def said(turn: int) -> list[str]:
        steps: Any = scenario.does
        return [scope.fill(step.parts[0].text) for step, scope in turns(scenario, steps, messages[:turn])]

    assert [said(turn) for turn in (1, 2, 3, 4)] == [["0 of 3: loop 9"], ["1 of 3: a"], ["2 of 3: b"], ["4 c"]]


# Reloading


@pytest.fixture
async def written_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: aiohttp.ClientSession
) -> AsyncIterator[tuple[Path, Peer]]:
    """An agent with a scenario of its own, whose file is looked at each time."""
    monkeypatch.setattr(catalog, "_LOOKED", 0.0)
    path = written(tmp_path, "mine", 'steps = [{ message = "first: {words}" }]')
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
    written(path.parent, "new", 'steps = [{ message = "new here" }]')
    assert text_of((await peer.send("new")).parts) == "new here"
    path.unlink()
    assert text_of((await peer.send("mine a b")).parts) == "mine a b"


async def test_a_change_that_makes_no_sense_is_told_once_and_changes_nothing(
    written_agent: tuple[Path, Peer], caplog: pytest.LogCaptureFixture
):
    path, peer = written_agent
    await peer.send("mine a b")
    rewrite(path, HEAD + "steps = [\n{ mesage = 1 } ]")
    for _ in range(2):
        assert text_of((await peer.send("mine a b")).parts) == "first: a b"
    assert [record.getMessage().partition("mine.toml")[2][:3] for record in caplog.records] == [":3:"]
    rewrite(path, HEAD + 'steps = [{ message = "mended" }]')
    assert text_of((await peer.send("mine")).parts) == "mended"
