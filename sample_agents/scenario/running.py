"""Takes the steps of a scenario: for each turn of a task, those up to the next question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Artifact, Message, Part

from ..task_context import Work, after_first_word, first_word, text_of
from ..task_store import new_id
from .model import Answer, Content, Count, Give, Log, Push, Repeat, Reply, Say, Scenario, Spoil, Step, Wait

FLOOD = 500
"""Beyond so many chunks, they are whole lines, again and again, without a pause."""
_BLANK = re.compile(r"\{(text|words|answer|number|turn|index|total)\}")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Scope:
    """What the blanks in a scenario's texts stand for: what the client said last, in which turn, and which repetition.

    `words` is what follows the word that chose the scenario, or all that was said; `index` counts from 0.
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
        """Return what the client said beside the sign that chose the scenario."""
        chosen = self.turn == 1 and first_word(self.message) in self.scenario.words
        return after_first_word(self.text) if chosen else self.text

    @property
    def answer(self) -> str:
        """Return what a reply comes to: its text or, failing that, its data as JSON."""
        data = next((part.data for part in self.message.parts if part.data is not None), None)
        return self.text.strip() or ("(an answer without text)" if data is None else dump(data).decode())

    def count(self, given: Count) -> int:
        """Return how often something happens: as often as the scenario says, or the number that the client gives."""
        if given is not None:
            return given
        number, digits = self.scenario.number, next(iter(self.words.split()), "")
        if not (digits.isascii() and digits.isdigit()):
            return number.default
        return min(max(int(digits[:20]), 1), number.most)

    def fill(self, text: str) -> str:
        """Fill in the blanks of a text; other braces stay as they are."""
        return _BLANK.sub(lambda found: self._blank(found[1]), text)

    def _blank(self, name: str) -> str:
        if name == "number":
            return str(self.count(None))
        return str(getattr(self, name))


Cue = tuple[Step, Scope]


def turns(scenario: Scenario, steps: Sequence[Step], messages: Sequence[Message]) -> Iterator[Cue]:
    """Give the steps of the last turn of a task, as the messages that began its turns lead to them.

    A task is where its messages have brought it, so nothing has to be remembered beside them.
    """
    start = Scope(scenario, messages[0], 1)
    for step, scope in _Walk(messages).through(start, steps):
        if scope.turn < len(messages):
            continue
        yield step, scope
        if isinstance(step, Say) and (step.asks or step.ends):
            return


class _Walk:
    """Goes through steps and takes the client's next message wherever one of them asks for it."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._turn = 1

    def through(self, scope: Scope, steps: Sequence[Step]) -> Iterator[Cue]:
        for step in steps:
            here = self._now(scope)
            if isinstance(step, Repeat):
                total = here.count(step.times)
                for index in range(total):
                    yield from self.through(replace(here, index=index, total=total), step.steps)
                continue
            yield step, here
            if isinstance(step, Say) and step.asks:
                yield from self._answered(step, here)

    def _answered(self, question: Say, scope: Scope) -> Iterator[Cue]:
        """Take the reply to a question, and ask again while nothing fits it."""
        answer = self._reply(question)
        while answer is None:
            yield question, self._now(scope)
            answer = self._reply(question)
        yield from self.through(self._now(scope), answer.steps)

    def _reply(self, question: Say) -> Answer | None:
        message = self._messages[self._turn]
        self._turn += 1
        if not question.answers:
            return Answer(frozenset(), ())
        said = set(_WORD.findall(text_of(message).lower()))
        return next((one for one in question.answers if not one.words or one.words & said), None)

    def _now(self, scope: Scope) -> Scope:
        return replace(scope, message=self._messages[self._turn - 1], turn=self._turn)


async def play(scenario: Scenario, steps: Sequence[Step], work: Work) -> None:
    """Take the steps of one turn."""
    for step, scope in turns(scenario, steps, work.messages):
        match step:
            case Say():
                await work.status(step.state, [_part(one, scope) for one in step.parts] or None)
            case Give():
                await _give(step, scope, work)
            case Wait():
                await work.pause(step.seconds)
            case Log():
                work.note(scope.fill(step.text))
            case Push():
                work.push()
            case Spoil():
                work.spoil(step.fault)


def reply(scenario: Scenario, does: Reply, message: Message) -> list[Part]:
    """Return the parts of a direct answer."""
    scope = Scope(scenario, message, 1)
    if does.parts:
        return [_part(one, scope) for one in does.parts]
    parts = list(message.parts)
    at = next((index for index, part in enumerate(parts) if part.text is not None), None)
    if at is not None:
        parts[at] = parts[at].model_copy(update={"text": scope.words})
    return parts


async def _give(step: Give, scope: Scope, work: Work) -> None:
    identity = scope.fill(step.id) or new_id()
    head: dict[str, Any] = {"artifact_id": identity, "name": scope.fill(step.name)}
    if step.description:
        head["description"] = step.description
    if step.chunks == 1:
        whole = Artifact(**head, parts=[_part(one, scope) for one in step.parts])
        await work.artifact(whole, append=step.append, last_chunk=step.last)
        return
    pieces = cut(_part(step.parts[0], scope), scope.count(step.chunks))
    for index, piece in enumerate(pieces):
        artifact, last = Artifact(**head, parts=[piece]), index == len(pieces) - 1
        await work.artifact(artifact, append=step.append or index > 0, last_chunk=step.last and last)
        if len(pieces) <= FLOOD:
            await work.pause(step.every)


def cut(part: Part, chunks: int) -> list[Part]:
    """Cut a text into so many parts, none of them empty; a flood repeats its lines, which it shares."""
    text = part.text or ""
    if chunks > FLOOD:
        lines = [part.model_copy(update={"text": line}) for line in text.splitlines(keepends=True)] or [part]
        return [lines[index % len(lines)] for index in range(chunks)]
    chunks = min(chunks, max(len(text), 1))
    cuts = [index * len(text) // chunks for index in range(chunks + 1)]
    return [part.model_copy(update={"text": text[start:end]}) for start, end in pairwise(cuts)]


def _part(content: Content, scope: Scope) -> Part:
    """Make a part with only those members that it has: absent and null are not the same on the wire."""
    members = {
        "text": None if content.text is None else scope.fill(content.text),
        "raw": content.raw,
        "url": content.url,
        "data": content.data,
        "filename": content.filename,
        "media_type": content.media_type,
    }
    return Part(**{name: value for name, value in members.items() if value is not None})
