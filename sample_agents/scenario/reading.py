"""Reads scenarios: TOML into the model, with the file and the line of whatever makes no sense."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from mimetypes import MimeTypes
from pathlib import Path

from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State, short

from ..faults.fault import Level, Spoiler
from ..faults.names import UnknownFaultError, named
from .model import (
    NUMBER,
    Answer,
    Content,
    Count,
    Give,
    Log,
    Number,
    Push,
    Repeat,
    Reply,
    Say,
    Scenario,
    Spoil,
    Step,
    Wait,
)
from .toml_table import ScenarioError, Table, read_table

_MOST = 200_000
"""How often anything happens again."""
_LARGEST_FILE = 20_000_000
_AT_THE_START = (Level.CALL, Level.HEAD)
_STATES = {short(state): state for state in State if state is not State.UNSPECIFIED}
_TYPES = MimeTypes(filenames=())  # not those of the machine, which differ
_TYPES.add_type("text/markdown", ".md")


def read_scenario(file: Path) -> Scenario:
    """Read a scenario; raises ScenarioError where it makes no sense."""
    table = read_table(file)
    identity = table.take("id", str, file.stem)
    skill = AgentSkill(
        id=identity,
        name=table.take("name", str, identity.replace("-", " ").capitalize()),
        description=table.take("description", str, ""),
        tags=list(table.texts("tags")),
    )
    more = {name: list(given) for name in ("examples", "input_modes", "output_modes") if (given := table.texts(name))}
    skill = skill.model_copy(update=more)
    if not skill.description:
        table.refuse("description says what the scenario does: it stands on the agent's card.", "description")
    scenario = Scenario(
        skill=skill,
        words=frozenset(word.lower() for word in table.texts("words") or (identity,)),
        message_ids=table.texts("message_ids"),
        default=table.take("default", bool, False),
        number=_number(table),
        faults=_faults(table),
        does=_does(table),
    )
    table.done()
    return scenario


def _number(table: Table) -> Number:
    inner = table.table("number")
    if inner is None:
        return Number()
    usual = Number()
    number = Number(inner.take("default", int, usual.default), inner.take("most", int, usual.most))
    inner.done()
    if not 1 <= number.default <= number.most <= _MOST:
        inner.refuse(f"number is to hold 1 <= default <= most <= {_MOST}.")
    return number


def _faults(table: Table) -> tuple[Spoiler, ...]:
    try:
        return tuple(named(one) for one in table.texts("fault"))
    except UnknownFaultError as error:
        table.refuse(str(error), "fault")


def _does(table: Table) -> Reply | tuple[Step, ...]:
    given = [*table.tables("steps")]
    if not given:
        table.refuse("steps is to have at least one step.", "steps")
    reply = next((one for one in given if "message" in one or "echo" in one), None)
    if reply is None:
        return _steps(given)
    if len(given) > 1:
        reply.refuse("A message answers without a task: no other step stands beside it.")
    if "echo" in reply:
        reply.take("echo", bool, True)
        parts: tuple[Content, ...] = ()
    else:
        parts = _said(reply, "message")
        if not parts:
            reply.refuse("A message has a text or parts.", "message")
    reply.done()
    return Reply(parts)


def _steps(tables: list[Table]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for table in tables:
        if steps and isinstance(steps[-1], Say) and steps[-1].ends:
            table.refuse("Nothing comes after the end of the task.")
        for spoiler in _faults(table):
            if spoiler.fault.level in _AT_THE_START:
                table.refuse(f"{spoiler} goes wrong at the start of an answer: name it beside the steps.", "fault")
            steps.append(Spoil(spoiler))
        verbs = [name for name in table.members if name in _VERBS]
        if len(verbs) > 1 or not (verbs or "fault" in table):
            what = f"says {' and '.join(verbs)}" if verbs else f"says none of {', '.join(_VERBS)}"
            table.refuse(f"A step does one thing: this one {what}.")
        steps += (_VERBS[verb](table, verb) for verb in verbs)
        table.done()
    return tuple(steps)


def _say(table: Table, verb: str) -> Say:
    said = Say(_STATES[verb], _said(table, verb))
    if not said.asks:
        return said
    return replace(said, answers=tuple(_answer(one) for one in table.tables("answers")))


def _said(table: Table, verb: str) -> tuple[Content, ...]:
    """Read what is said: a text, then parts."""
    text = table.take(verb, str, "")
    parts = tuple(_content(one) for one in table.tables("parts"))
    return (Content(text=text), *parts) if text else parts


def _answer(table: Table) -> Answer:
    words = frozenset(word.lower() for word in table.texts("words"))
    answer = Answer(words, _steps([*table.tables("steps")]))
    table.done()
    return answer


def _give(table: Table, verb: str) -> Give:
    name = table.take(verb, str, "")
    parts = tuple(_content(one, name) for one in table.tables("parts"))
    if not parts:
        parts = (_one_content(table, name),)
    given = Give(
        name=name,
        parts=parts,
        description=table.take("description", str, "") or None,
        id=table.take("id", str, ""),
        chunks=_count(table, "chunks"),
        every=table.seconds("every"),
        append=table.take("append", bool, False),
        last=table.take("last", bool, True),
    )
    if given.chunks != 1 and (len(parts) > 1 or not parts[0].text):
        table.refuse("Only one text can be cut into chunks.", "chunks")
    if given.append and not given.id:
        table.refuse("append adds to an artifact that was given before, under the same id.", "append")
    return given


def _content(table: Table, name: str = "") -> Content:
    content = _one_content(table, name)
    table.done()
    return content


def _one_content(table: Table, name: str) -> Content:
    """Read the one content that stands in a table; `name` says by its ending what media type a text has."""
    kinds = [kind for kind in ("text", "file", "url", "data") if kind in table]
    if len(kinds) != 1:
        table.refuse(f"A part has one of text, file, url and data: this one has {', '.join(kinds) or 'none'}.")
    media_type, filename = table.take("type", str, "") or None, table.take("filename", str, "") or None
    match kinds[0]:
        case "text":
            guessed = (_TYPES.guess_type(name)[0] or "text/plain") if name else None
            return Content(text=table.take("text", str, ""), media_type=media_type or guessed, filename=filename)
        case "url":
            guessed = _TYPES.guess_type(filename or "")[0]
            return Content(url=table.take("url", str, ""), media_type=media_type or guessed, filename=filename)
        case "data":
            return Content(data=table.value("data"), media_type=media_type or "application/json", filename=filename)
        case _:
            return _file(table, media_type, filename)


def _file(table: Table, media_type: str | None, filename: str | None) -> Content:
    path = table.file.parent / table.take("file", str, "")
    try:
        if path.stat().st_size > _LARGEST_FILE:
            table.refuse(f"The file {path.name} has more than {_LARGEST_FILE:,} bytes.", "file")
        raw = path.read_bytes()
    except OSError as error:
        raise ScenarioError(
            table.file, table.lines[*table.path, "file"], f"The file {path.name} cannot be read: {error.strerror}."
        ) from error
    guessed = _TYPES.guess_type(path.name)[0] or "application/octet-stream"
    return Content(raw=base64.b64encode(raw).decode(), media_type=media_type or guessed, filename=filename or path.name)


def _count(table: Table, name: str) -> Count:
    if table.members.get(name) == NUMBER:
        table.value(name)
        return None
    count = table.take(name, int, 1)
    if not 1 <= count <= _MOST:
        table.refuse(f'{name} is to be a number from 1 to {_MOST}, or "{NUMBER}".', name)
    return count


def _wait(table: Table, verb: str) -> Wait:
    return Wait(table.seconds(verb))


def _repeat(table: Table, verb: str) -> Repeat:
    steps = _steps([*table.tables("steps")])
    if not steps or any(isinstance(step, Say) and step.ends for step in steps):
        table.refuse("repeat has steps, none of which ends the task.", verb)
    return Repeat(_count(table, verb), steps)


def _log(table: Table, verb: str) -> Log:
    return Log(table.take(verb, str, ""))


def _push(table: Table, verb: str) -> Push:
    if not table.take(verb, bool, True):
        table.refuse("push is true, or not there.", verb)
    return Push()


_VERBS: Mapping[str, Callable[[Table, str], Step]] = {
    **dict.fromkeys(_STATES, _say),
    "artifact": _give,
    "wait": _wait,
    "repeat": _repeat,
    "log": _log,
    "push": _push,
}
"""What a step can do, by the word that says it."""
