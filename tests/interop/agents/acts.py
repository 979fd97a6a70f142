"""The behaviours of ACTS (section 11.2) for the 1.0 agent, selected by the first word of a task's text."""

from __future__ import annotations

import asyncio

from a2a.helpers import new_data_part, new_raw_part, new_text_part, new_url_part
from a2a.server.tasks import TaskUpdater
from a2a.types import Part
from behaviours import Turn

PREFIX = "tck-"
"""The beginning of a text that selects one of these behaviours."""

_WORK_SECONDS = 4.0
"""Seconds that a task runs so that a client can subscribe to it."""
_JOIN_SECONDS = 0.2
"""Seconds that a streamed task runs, so that a second client can subscribe to it."""
_FILE = {"media_type": "text/plain", "filename": "output.txt"}
_WORKS = {
    "tck-artifact-text": (0, [new_text_part("Generated text content")]),
    "tck-artifact-file": (0, [new_raw_part(b"Generated file content", **_FILE)]),
    "tck-artifact-file-url": (0, [new_url_part("https://example.com/output.txt", **_FILE)]),
    "tck-artifact-data": (0, [new_data_part({"key": "value", "count": 42})]),
    "tck-stream-basic": (_JOIN_SECONDS, [new_text_part("Streamed content")]),
    "tck-stream-chunked": (0, [new_text_part("chunk-1 "), new_text_part("chunk-2")]),
    "tck-long-running": (_WORK_SECONDS, [new_text_part("Generated text content")]),
    "tck-cancel": (10 * _WORK_SECONDS, []),
}
"""The time that a task works, and the chunks of its artifact."""


async def perform(turn: Turn, first: str) -> None:
    """Run the behaviour that `first` selects, the first text of the task; an unknown behaviour completes the task."""
    word, updater = first.partition(" ")[0], turn.updater
    if word == "tck-message-response":
        await turn.reply("Direct message response")
        return
    if not turn.answering:
        await turn.begin()
    if word in _WORKS:
        await _work(updater, *_WORKS[word])
        return
    if word == "tck-multi-turn" and turn.text.strip() != "done":
        word = "tck-input-required"
    publish = {
        "tck-input-required": updater.requires_input,
        "tck-auth-required": updater.requires_auth,
        "tck-reject-task": updater.reject,
        "tck-task-failure": updater.failed,
    }.get(word, updater.complete)
    await publish(turn.message(f"the response to {word}"))


async def _work(updater: TaskUpdater, seconds: float, chunks: list[Part]) -> None:
    """Work for a time, publish an artifact in chunks, and complete the task."""
    await updater.start_work()
    await asyncio.sleep(seconds)
    for index, chunk in enumerate(chunks):
        last = index == len(chunks) - 1
        await updater.add_artifact([chunk], artifact_id="output", name="output", append=index > 0, last_chunk=last)
    await updater.complete()
