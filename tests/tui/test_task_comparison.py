"""A task by its stream, by pushes and by GetTask: the comparison in a dialog."""

from __future__ import annotations

from typing import Any

import pytest
from driving import Open
from players import playing, stream
from puppets import Call, chunk, status, task
from rich.cells import cell_len

from inspector.protocol.dialects import v1_0
from inspector.protocol.model import Task
from inspector.session.push.comparison import compare
from inspector.session.push.matching import Source, SourcedEvent, TaskMatcher
from inspector.tui.render.glyphs import UNICODE
from inspector.tui.render.task_diff import compared

UUID = "11111111-1111-4111-8111-111111111111"


async def test_the_task_is_compared_with_what_the_agent_answers(open_app: Open):
    async def answer(call: Call) -> Any:
        if call.rpc["method"] == "GetTask":
            whole = {"artifactId": "a", "name": "notes", "parts": [{"text": "other"}]}
            return call.result(task("COMPLETED") | {"artifacts": [whole]})
        return await stream(call, {"task": task("WORKING")}, chunk("one"), status("COMPLETED"))

    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await driver.press("escape", "c")
        await driver.until("GetTask")
        assert "✕ artifact notes" in driver.screen
        assert "- stream, + GetTask" in driver.screen
        assert "- one" in driver.screen
        assert "+ other" in driver.screen


def test_differences_are_above_what_is_the_same():
    fold = TaskMatcher("t")
    for seq, way in enumerate((Source.STREAM, Source.RESPONSE), 1):
        names = ("same", "missing") if way is Source.STREAM else ("same",)
        artifacts = [{"artifactId": name, "name": name, "parts": [{"text": name}]} for name in names]
        value = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": artifacts}
        event = v1_0.decode_event({"task": value})
        assert isinstance(event, Task)
        fold.take(SourcedEvent(way, seq, seq, event))
    heads = [row.head[0].split()[:3] for row in compared(compare(fold), "", UNICODE, 100)]
    assert heads[1:4] == [["✕", "artifact", "missing"], ["✓", "state"], ["✓", "context"]]


@pytest.mark.parametrize(("width", "shown"), [(70, "11111111-111…"), (140, UUID)])
def test_ids_are_in_full_where_there_is_room(width: int, shown: str):
    fold = TaskMatcher("t")
    for seq, way in enumerate(Source, 1):
        event = v1_0.decode_event({"task": {"id": "t", "contextId": UUID, "status": {"state": "TASK_STATE_WORKING"}}})
        assert isinstance(event, Task)
        fold.take(SourcedEvent(way, seq, seq, event))
    rows = compared(compare(fold), "", UNICODE, width)
    [row] = [one for one in rows if "context" in one.head[0]]
    assert row.text.split() == [shown] * 3
    assert cell_len(row.head[0]) + cell_len(row.text) <= width
