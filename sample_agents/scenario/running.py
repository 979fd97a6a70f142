"""Run the steps of a scenario: each message to a task runs the steps up to the next question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Artifact, Message, Part

from ..task_context import TaskContext, after_first_word, first_word, text_of
from ..task_store import new_id
from .model import (
    Content,
    Count,
    Log,
    MessageResponse,
    Push,
    Repeat,
    Scenario,
    SendArtifact,
    SetStatus,
    StartFault,
    Step,
    Wait,
)

MAX_TIMED_CHUNKS = 500
"""The largest number of chunks with pauses; more chunks repeat the lines of the text, without pauses."""
_PLACEHOLDER = re.compile(r"\{(text|words|answer|number|turn|index|total)\}")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class StepContext:
    """The values of the placeholders for one step.

    `message` is the last message of the client, `turn` its number from 1. `index` is the round of a repeat from 0,
    `total` the number of rounds.
    """

    scenario: Scenario
    message: Message
    turn: int
    index: int = 0
    total: int = 1

    @property
    def text(self) -> str:
        """Return the first text of the message."""
        return text_of(self.message)

    @property
    def words(self) -> str:
        """Return the text without the word that selected the scenario."""
        selected = self.turn == 1 and first_word(self.message) in self.scenario.words
        return after_first_word(self.text) if selected else self.text

    @property
    def answer(self) -> str:
        """Return the text of the message, or else its data as JSON."""
        data = next((part.data for part in self.message.parts if part.data is not None), None)
        return self.text.strip() or ("(no text)" if data is None else dump(data).decode())

    def count(self, count: Count) -> int:
        """Return a count of the scenario, or the number that the client sent, limited to `most`."""
        if count is not None:
            return count
        number, digits = self.scenario.number, next(iter(self.words.split()), "")
        if not (digits.isascii() and digits.isdigit()):
            return number.default
        return min(max(int(digits[:20]), 1), number.most)

    def fill(self, text: str) -> str:
        """Fill in the placeholders of a text; other braces stay as they are."""
        return _PLACEHOLDER.sub(lambda found: self._placeholder_value(found[1]), text)

    def _placeholder_value(self, name: str) -> str:
        if name == "number":
            return str(self.count(None))
        return str(getattr(self, name))


ScheduledStep = tuple[Step, StepContext]


def current_turn_steps(
    scenario: Scenario, steps: Sequence[Step], messages: Sequence[Message]
) -> Iterator[ScheduledStep]:
    """Yield the steps for the last message of a task.

    The position in the scenario follows from the messages alone, so it is not stored.
    """
    start = StepContext(scenario, messages[0], 1)
    for step, context in _TurnWalker(messages).through(start, steps):
        if context.turn < len(messages):
            continue
        yield step, context
        if isinstance(step, SetStatus) and (step.asks or step.ends):
            return


class _TurnWalker:
    """Iterate over steps; after a question, use the next message of the client."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._turn = 1

    def through(self, context: StepContext, steps: Sequence[Step]) -> Iterator[ScheduledStep]:
        for step in steps:
            current = self._at_current_turn(context)
            if isinstance(step, Repeat):
                total = current.count(step.times)
                for index in range(total):
                    yield from self.through(replace(current, index=index, total=total), step.steps)
                continue
            yield step, current
            if isinstance(step, SetStatus) and step.asks:
                yield from self._answered(step, current)

    def _answered(self, question: SetStatus, context: StepContext) -> Iterator[ScheduledStep]:
        """Yield the steps for the reply of the client; repeat the question until a reply matches."""
        while (steps := self._steps_after(question)) is None:
            yield question, self._at_current_turn(context)
        yield from self.through(self._at_current_turn(context), steps)

    def _steps_after(self, question: SetStatus) -> Sequence[Step] | None:
        """Return the steps for the next message of the client, None if it does not match."""
        message = self._messages[self._turn]
        self._turn += 1
        if not question.answers:
            return ()
        words = set(_WORD.findall(text_of(message).lower()))
        return next((item.steps for item in question.answers if not item.words or item.words & words), None)

    def _at_current_turn(self, context: StepContext) -> StepContext:
        return replace(context, message=self._messages[self._turn - 1], turn=self._turn)


async def run_steps(scenario: Scenario, steps: Sequence[Step], task: TaskContext) -> None:
    """Run the steps for the last message of a task."""
    for step, context in current_turn_steps(scenario, steps, task.messages):
        match step:
            case SetStatus():
                parts = [_part(content, context) for content in step.parts] or None
                await task.status(step.state, parts, resumes=step.resumes)
            case SendArtifact():
                await _send_artifact(step, context, task)
            case Wait():
                await task.pause(step.seconds)
            case Log():
                task.log(context.fill(step.text))
            case Push():
                task.push()
            case StartFault():
                task.add_fault(step.fault)


async def respond(scenario: Scenario, response: MessageResponse, message: Message) -> list[Part]:
    """Return the parts of a response message."""
    context = StepContext(scenario, message, 1)
    if response.parts:
        return [_part(content, context) for content in response.parts]
    parts = list(message.parts)
    at = next((index for index, part in enumerate(parts) if part.text is not None), None)
    if at is not None:
        parts[at] = parts[at].model_copy(update={"text": context.words})
    return parts


async def _send_artifact(step: SendArtifact, context: StepContext, task: TaskContext) -> None:
    identity = context.fill(step.id) or new_id()
    head: dict[str, Any] = {"artifact_id": identity, "name": context.fill(step.name)}
    if step.description:
        head["description"] = step.description
    if step.chunks == 1:
        whole = Artifact(**head, parts=[_part(content, context) for content in step.parts])
        await task.artifact(whole, append=step.append, last_chunk=step.last)
        return
    chunks = split_text(_part(step.parts[0], context), context.count(step.chunks))
    for index, chunk in enumerate(chunks):
        artifact, last = Artifact(**head, parts=[chunk]), index == len(chunks) - 1
        await task.artifact(artifact, append=step.append or index > 0, last_chunk=step.last and last)
        if len(chunks) <= MAX_TIMED_CHUNKS:
            await task.pause(step.every)


def split_text(part: Part, chunks: int) -> list[Part]:
    """Split a text into `chunks` non-empty parts; above `MAX_TIMED_CHUNKS`, repeat its lines."""
    text = part.text or ""
    if chunks > MAX_TIMED_CHUNKS:
        lines = [part.model_copy(update={"text": line}) for line in text.splitlines(keepends=True)] or [part]
        return [lines[index % len(lines)] for index in range(chunks)]
    chunks = min(chunks, max(len(text), 1))
    cuts = [index * len(text) // chunks for index in range(chunks + 1)]
    return [part.model_copy(update={"text": text[start:end]}) for start, end in pairwise(cuts)]


def _part(content: Content, context: StepContext) -> Part:
    """Return a part without null members: a missing member and null differ in JSON."""
    members = {
        "text": None if content.text is None else context.fill(content.text),
        "raw": content.raw,
        "url": content.url,
        "data": content.data,
        "filename": content.filename,
        "media_type": content.media_type,
    }
    return Part(**{name: value for name, value in members.items() if value is not None})
