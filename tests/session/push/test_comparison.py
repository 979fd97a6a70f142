"""Compare a task by stream, push and GetTask: what is missing, repeated, reordered or different."""

from __future__ import annotations

from typing import Any

from inspector.sample_agents.server import MockAgent
from scripted import Agent, Heard, OpenSession, answering, artifact, eventually, say, status, streaming, task

from inspector.protocol.dialects import v1_0
from inspector.protocol.lifecycle import is_terminal
from inspector.protocol.model import Unreadable
from inspector.protocol.operations import Operation
from inspector.session.push.comparison import Comparison, Verdict, ask_and_compare, compare
from inspector.session.push.matching import Source, SourcedEvent, TaskMatcher, match
from inspector.session.session import Session

S, P, G = Source.STREAM, Source.PUSH, Source.RESPONSE


def folded(*events: tuple[Source, float, Any]) -> Comparison:
    matcher = TaskMatcher("t")
    for seq, (source, at, value) in enumerate(events, 1):
        event = v1_0.decode_event(value)
        assert not isinstance(event, Unreadable)
        matcher.take(SourcedEvent(source, at, seq, event))
    return compare(matcher)


async def ask(session: Session, task_id: str) -> tuple[Comparison, str]:
    capture, why_not = session.journal.capture, session.unavailable_reason(Operation.GET)
    return await ask_and_compare(capture, task_id, why_not, session.get(task_id).finish)


def verdicts(found: Comparison) -> dict[str, Verdict]:
    return {aspect.name: aspect.verdict for aspect in found.aspects}


def whole(state: str, text: str = "abc") -> dict[str, Any]:
    return {"task": task(state, {"artifactId": "a", "parts": [{"text": text}]})}


CHUNKS = [(S, 1, artifact("a")), (S, 2, artifact("bc", append=True)), (S, 3, status("COMPLETED"))]


def test_equal_accounts_agree():
    found = folded(*CHUNKS, (P, 4, status("COMPLETED")), (G, 5, whole("COMPLETED")))
    assert verdicts(found) == {"state": "same", "context": "same", "artifact a": "same"}
    assert found.agree
    assert found.sources == (S, P, G)


def test_different_texts_are_reported_with_their_lines():
    found = folded(*CHUNKS, (G, 5, whole("COMPLETED", "abd")))
    [one] = [aspect for aspect in found.aspects if aspect.name == "artifact a"]
    assert (one.verdict, [line.text for line in one.lines], one.compared) == (Verdict.DIFFERS, ["abc", "abd"], (S, G))
    assert not found.agree


def test_an_artifact_without_response_is_missing():
    found = folded(*CHUNKS, (G, 5, {"task": task("COMPLETED")}))
    assert verdicts(found)["artifact a"] is Verdict.MISSING
    assert "artifact a is not reported by GetTask" in found.words


def test_a_response_from_before_the_end_is_early_and_not_wrong():
    found = folded(CHUNKS[0], (G, 1.5, whole("WORKING", "a")), *CHUNKS[1:])
    assert verdicts(found) == {"state": Verdict.LATE, "context": "same", "artifact a": Verdict.LATE}
    assert found.agree


def test_only_the_last_response_counts():
    found = folded((G, 0, whole("WORKING", "x")), *CHUNKS, (G, 5, whole("COMPLETED")))
    assert found.agree


def test_repeated_and_reordered_updates_are_named():
    a, b = status("WORKING", "1"), status("WORKING", "2")
    found = folded((S, 1, a), (S, 2, b), (P, 3, b), (P, 4, a), (P, 5, a))
    assert 'working "1" was reported 2 times by push, 1 by stream' in found.words
    assert 'working "2" came by push before working "1", by stream after it' in found.words


def test_an_update_streamed_twice_and_pushed_once_is_repeated_and_not_missing():
    a, b = status("WORKING", "1"), status("WORKING", "2")
    found = folded((S, 1, a), (S, 2, a), (P, 3, a), (S, 4, b))
    assert 'working "1" was reported 2 times by stream, 1 by push' in found.words
    assert "1 of 3 updates came by stream but not by push" in found.words


def test_pushes_without_artifacts_miss_none():
    found = folded(*CHUNKS, (P, 4, status("COMPLETED")))
    assert verdicts(found)["artifact a"] is Verdict.SAME


def test_sources_that_disagree_about_the_state_differ():
    found = folded((S, 1, status("COMPLETED")), (G, 2, {"task": task("FAILED")}))
    assert verdicts(found)["state"] is Verdict.DIFFERS


def test_a_task_without_records_has_no_sources():
    assert folded().sources == ()


async def test_the_agent_is_asked_and_compared(mock: MockAgent, open_session: OpenSession, version: str):
    session = await open_session(mock.url, version=version)
    await session.push.turn_on()
    call = await say(session, "report 5")
    task_id = call.exchange.task_id
    await eventually(lambda: is_terminal(session.tasks.get(task_id).pushed.state))
    found, why = await ask(session, task_id)
    assert why == ""
    assert found.sources == (S, P, G)
    assert found.agree


async def test_a_failed_response_is_reported_and_the_rest_is_compared(agent: Agent, open_session: OpenSession):
    async def answer(request: Any, heard: Heard) -> Any:
        if heard.json["method"] == "GetTask":
            return await answering(error={"code": -32001, "message": "no such task"})(request, heard)
        return await streaming({"task": task("WORKING")}, status("COMPLETED"))(request, heard)

    agent.answer(answer)
    session = await open_session(agent.url)
    await say(session)
    found, why = await ask(session, "t")
    assert "no such task" in why
    assert found.sources == (S,)
    assert compare(await match(session.journal.capture, "nobody")).sources == ()
