"""A snapshot of a task is not affected by later changes, and does not affect other snapshots."""

from __future__ import annotations

from typing import Any

from inspector.protocol.assemble import AssembledTask, TextAppended, TextRun
from inspector.protocol.dialects import v1_0
from inspector.protocol.model import TaskArtifactUpdateEvent, Unreadable
from inspector.protocol.snapshot import take_snapshot


def tell(account: AssembledTask, *events: dict[str, Any]) -> AssembledTask:
    for value in events:
        event = v1_0.decode_event(value)
        assert not isinstance(event, Unreadable)
        account.apply(event, float(account.events))
    return account


def chunk(text: str, **members: Any) -> dict[str, Any]:
    part = {"text": text} if text else {"url": "https://example.com/a.png"}
    return {"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a", "parts": [part]}} | members}


def status(state: str, said: str = "") -> dict[str, Any]:
    message = {"message": {"messageId": said, "role": "ROLE_AGENT", "parts": [{"text": said}]}} if said else {}
    return {"statusUpdate": {"taskId": "t", "status": {"state": f"TASK_STATE_{state}"} | message}}


BEGUN = (status("WORKING", "reading"), chunk("one "), chunk("two ", append=True), chunk("", append=True))
LATER = (chunk("three", append=True, lastChunk=True), status("COMPLETED", "done"))


def test_later_changes_do_not_affect_a_snapshot():
    account = tell(AssembledTask("t"), *BEGUN)
    kept = take_snapshot(account)
    tell(account, *LATER, chunk("instead"))
    then = kept.restore()
    assert str(then.artifacts["a"].text) == "one two "
    assert [move.state for move in then.moves] == ["TASK_STATE_WORKING"]
    assert [message.message_id for message in then.messages] == ["reading"]
    assert (then.events, then.artifacts["a"].chunks, then.artifacts["a"].closed) == (4, 3, False)
    assert then.artifacts["a"].parts[0] == TextRun(0, 8, None, None)
    assert len(then.artifacts["a"].parts) == 2


def test_a_text_ends_where_it_ended_at_the_snapshot():
    account = tell(AssembledTask("t"), chunk("one "))
    kept = take_snapshot(account)
    like = v1_0.decode_event(chunk("one "))
    assert isinstance(like, TaskArtifactUpdateEvent)
    account.apply(TextAppended(like, ("two",)), 9.0)
    assert kept.restore().artifacts["a"].parts == [TextRun(0, 4, None, None)]
    assert account.artifacts["a"].parts == [TextRun(0, 7, None, None)]


def test_a_restored_task_is_independent():
    account = tell(AssembledTask("t"), *BEGUN)
    kept = take_snapshot(account)
    tell(kept.restore(), *LATER)
    assert str(account.artifacts["a"].text) == "one two "
    assert account.context_id == kept.restore().context_id
    whole, again = tell(kept.restore(), *LATER), tell(AssembledTask("t"), *BEGUN, *LATER)
    assert str(whole.artifacts["a"].text) == str(again.artifacts["a"].text) == "one two three"
    assert whole.artifacts["a"].parts == again.artifacts["a"].parts
    assert (whole.moves, list(whole.messages)) == (again.moves, list(again.messages))
    assert whole.context_id == again.context_id


def test_a_snapshot_of_an_empty_task():
    then = take_snapshot(AssembledTask("t")).restore()
    assert (then.id, then.artifacts, then.moves) == ("t", {}, [])
