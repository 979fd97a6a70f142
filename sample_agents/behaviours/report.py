"""report: streams a Markdown document in as many chunks as asked, from a trickle to a firehose."""

from __future__ import annotations

from itertools import pairwise

from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Artifact, Part

from ..state import new_id
from ..work import Work
from .base import Working

_DEFAULT_CHUNKS = 20
_MOST_CHUNKS = 200_000
_FIREHOSE = 500
"""Above this, chunks are whole lines, again and again, without a pause."""
_INTERVAL = 0.04

REPORT = """\
# How a task travels

*A report about itself: you are reading an artifact that arrives in pieces.*

## 1. The request

A client sends one **message** and waits. The message has an id, a role and at least one part; a part is a text,
a file, a link or any JSON value. What the client does not send is as telling as what it sends: without a `taskId`
the agent decides for itself whether this is small talk (it answers with a message) or work (it opens a **task**).

> The agent owns the id of a task. A client that invents one is told that there is no such task.

## 2. The stream

An agent that streams answers with Server-Sent Events. The first event is the task as it stands; then come updates,
and each of them is small:

| event           | says                              | how often             |
|-----------------|-----------------------------------|-----------------------|
| task            | everything that is known so far   | once, at the start    |
| status update   | the state, with a word about it   | at every change       |
| artifact update | a piece of what is being made     | as soon as it is made |

A piece of an artifact names the artifact that it belongs to. `append: false` starts it anew, `append: true` adds to
it, and `lastChunk: true` says that nothing more will come. A reader who keeps the pieces in order holds, at the end,
exactly the document that another reader would fetch with `GetTask`:

```json
{"artifactUpdate": {"taskId": "...", "artifact": {"artifactId": "...", "parts": [{"text": "..."}]},
 "append": true, "lastChunk": false}}
```

## 3. When the line breaks

Streams break: a laptop sleeps, a proxy loses patience, somebody steps on a cable. The task does not care. It goes on,
and the client has three ways back to it:

1. **Subscribe** again. The first event is the task with all that was missed, the rest follows live.
2. **Ask** for the task from time to time. Slow, simple, and always possible.
3. **Be told.** A webhook gets the same updates as the stream did, and nobody has to hold a line open.

Only a task that is over cannot be subscribed to any more. It is completed, failed, canceled or rejected, and none of
these is ever left again.

## 4. What to look at

- Does every update name the same task and the same context?
- Do the timestamps only ever grow?
- Is there one last chunk, and is it the last?
- Does the stream close when the task is over, and not before?

If the answer to all four is yes, the agent at the other end takes the protocol seriously.

---
*End of the report.*
"""


def pieces(chunks: int) -> list[Part]:
    """Return the report in so many parts; a firehose repeats its lines, which it shares instead of copying them."""
    if chunks > _FIREHOSE:
        lines = [_part(line) for line in REPORT.splitlines(keepends=True)]
        return [lines[index % len(lines)] for index in range(chunks)]
    cuts = [index * len(REPORT) // chunks for index in range(chunks + 1)]
    return [_part(REPORT[start:end]) for start, end in pairwise(cuts)]


def _part(text: str) -> Part:
    return Part(text=text, media_type="text/markdown")


async def _run(work: Work) -> None:
    chunks = work.number(_DEFAULT_CHUNKS, _MOST_CHUNKS)
    await work.status(State.WORKING, f"Writing the report in {chunks} chunks.")
    artifact_id = new_id()
    for index, piece in enumerate(pieces(chunks)):
        await work.artifact(
            Artifact(artifact_id=artifact_id, name="report.md", parts=[piece]),
            append=index > 0,
            last_chunk=index == chunks - 1,
        )
        if chunks <= _FIREHOSE:
            await work.pause(_INTERVAL)
    await work.status(State.COMPLETED, "The report is written.")


BEHAVIOUR = Working(
    AgentSkill(
        id="report",
        name="Report",
        description="Streams a Markdown document in as many chunks as you say; above 500, as fast as it can.",
        tags=["streaming", "artifact", "markdown"],
        examples=["report 20", "report 20000"],
        output_modes=["text/markdown"],
    ),
    _run,
)
