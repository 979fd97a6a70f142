"""Read scenario files into the model; errors have the file and the line."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from mimetypes import MimeTypes
from pathlib import Path

from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State, short
from inspector.text.limited_file import read_limited

from ..faults.fault import ActiveFault, Level
from ..faults.names import UnknownFaultError, parse_fault
from .model import (
    NUMBER,
    Content,
    Count,
    ExpectedReply,
    Log,
    MessageResponse,
    Number,
    Push,
    Repeat,
    Scenario,
    SendArtifact,
    SetStatus,
    StartFault,
    Step,
    Wait,
)
from .toml_table import Table, read_table

_MAX_COUNT = 200_000
"""The maximum number of repetitions or chunks."""
_LARGEST_FILE = 20_000_000
_KINDS = ("text", "file", "url", "data")
"""The members of a part, of which exactly one is required."""
_AT_THE_START = (Level.CALL, Level.HEAD)
_STATES = {short(state): state for state in State if state is not State.UNSPECIFIED}
_TYPES = MimeTypes(filenames=())  # the types of the operating system differ
_TYPES.add_type("text/markdown", ".md")


def read_scenario(file: Path) -> Scenario:
    """Read a scenario file; raises `ScenarioError` if it is invalid."""
    table = read_table(file)
    identity = table.get("id", str, file.stem)
    skill = AgentSkill(
        id=identity,
        name=table.get("name", str, identity.replace("-", " ").capitalize()),
        description=table.get("description", str, ""),
        tags=list(table.texts("tags")),
    )
    more = {name: list(values) for name in ("examples", "input_modes", "output_modes") if (values := table.texts(name))}
    skill = skill.model_copy(update=more)
    if not skill.description:
        table.fail("description is missing; it describes the scenario on the agent card.", "description")
    scenario = Scenario(
        skill=skill,
        words=frozenset(word.lower() for word in table.texts("words") or (identity,)),
        message_ids=table.texts("message_ids"),
        default=table.get("default", bool, False),
        number=_number(table),
        faults=_faults(table),
        response=_response(table),
        scopes=_scopes(table),
    )
    table.check_unused()
    return scenario


def _number(table: Table) -> Number:
    inner = table.table("number")
    if inner is None:
        return Number()
    default = Number()
    number = Number(inner.get("default", int, default.default), inner.get("most", int, default.most))
    inner.check_unused()
    if not 1 <= number.default <= number.most <= _MAX_COUNT:
        inner.fail(f"number must satisfy 1 <= default <= most <= {_MAX_COUNT}.")
    return number


def _scopes(table: Table) -> tuple[str, ...]:
    scopes = table.texts("scopes")
    if any(not scope.isascii() or not scope.isprintable() or set(scope) & set(' "\\') for scope in scopes):
        table.fail("A scope has printable ASCII characters, without spaces, quotation marks and backslashes.", "scopes")
    return scopes


def _faults(table: Table) -> tuple[ActiveFault, ...]:
    try:
        faults = tuple(parse_fault(text) for text in table.texts("fault"))
    except UnknownFaultError as error:
        table.fail(str(error), "fault")
    for active in faults:
        if active.fault.level.needs_authentication:
            table.fail(f"{active} is not about the scenario; set it with --fault.", "fault")
    return faults


def _response(table: Table) -> MessageResponse | tuple[Step, ...]:
    tables = [*table.tables("steps")]
    if not tables:
        table.fail("steps must have at least one step.", "steps")
    reply = next((step for step in tables if "message" in step or "echo" in step), None)
    if reply is None:
        return _steps(tables)
    if len(tables) > 1:
        reply.fail("message and echo respond without a task; each of them must be the only step.")
    if "echo" in reply:
        reply.get("echo", bool, True)
        parts: tuple[Content, ...] = ()
    else:
        parts = _texts_and_parts(reply, "message")
        if not parts:
            reply.fail("message needs a text or parts.", "message")
    reply.check_unused()
    return MessageResponse(parts)


def _steps(tables: list[Table]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for table in tables:
        if steps and isinstance(steps[-1], SetStatus) and steps[-1].ends:
            table.fail("This step follows the end of the task.")
        for active in _faults(table):
            if active.fault.level in _AT_THE_START:
                table.fail(
                    f"{active} changes the whole response; set fault at the top of the file, not on a step.", "fault"
                )
            steps.append(StartFault(active))
        actions = [name for name in table.members if name in _ACTIONS]
        if not actions:
            table.check_spelling((*_ACTIONS, "fault"))
        if len(actions) > 1 or not (actions or "fault" in table):
            found = f"both {' and '.join(actions)}" if actions else "no action"
            table.fail(f"This step has {found}; exactly one of {', '.join(_ACTIONS)} is required.")
        steps += (_ACTIONS[action](table, action) for action in actions)
        table.check_unused()
    return tuple(steps)


def _status(table: Table, action: str) -> SetStatus:
    status = SetStatus(_STATES[action], _texts_and_parts(table, action))
    if not status.asks:
        return status
    if "resumes" in table:
        return replace(status, resumes=table.get("resumes", bool, False))
    return replace(status, answers=tuple(_answer(inner) for inner in table.tables("answers")))


def _texts_and_parts(table: Table, action: str) -> tuple[Content, ...]:
    text = table.get(action, str, "")
    parts = tuple(_content(inner) for inner in table.tables("parts"))
    return (Content(text=text), *parts) if text else parts


def _answer(table: Table) -> ExpectedReply:
    words = frozenset(word.lower() for word in table.texts("words"))
    answer = ExpectedReply(words, _steps([*table.tables("steps")]))
    table.check_unused()
    return answer


def _artifact(table: Table, action: str) -> SendArtifact:
    name = table.get(action, str, "")
    parts = tuple(_content(inner, name) for inner in table.tables("parts"))
    if not parts:
        parts = (_one_content(table, name),)
    artifact = SendArtifact(
        name=name,
        parts=parts,
        description=table.get("description", str, "") or None,
        id=table.get("id", str, ""),
        chunks=_count(table, "chunks"),
        every=table.seconds("every"),
        append=table.get("append", bool, False),
        last=table.get("last", bool, True),
    )
    if artifact.chunks != 1 and (len(parts) > 1 or not parts[0].text):
        table.fail("chunks needs exactly one part, a text.", "chunks")
    if artifact.append and not artifact.id:
        table.fail("append needs the id of an artifact from an earlier step.", "append")
    return artifact


def _content(table: Table, name: str = "") -> Content:
    content = _one_content(table, name)
    table.check_unused()
    return content


def _one_content(table: Table, name: str) -> Content:
    """Read the content of a part; the suffix of `name` sets the media type of a text."""
    kinds = [kind for kind in _KINDS if kind in table]
    if not kinds:
        table.check_spelling(_KINDS)
    if len(kinds) != 1:
        table.fail(f"A part needs exactly one of text, file, url and data; found: {', '.join(kinds) or 'none'}.")
    media_type, filename = table.get("type", str, "") or None, table.get("filename", str, "") or None
    match kinds[0]:
        case "text":
            guessed = (_TYPES.guess_type(name)[0] or "text/plain") if name else None
            return Content(text=table.get("text", str, ""), media_type=media_type or guessed, filename=filename)
        case "url":
            guessed = _TYPES.guess_type(filename or "")[0]
            return Content(url=table.get("url", str, ""), media_type=media_type or guessed, filename=filename)
        case "data":
            return Content(data=table.json("data"), media_type=media_type or "application/json", filename=filename)
        case _:
            return _file(table, media_type, filename)


def _file(table: Table, media_type: str | None, filename: str | None) -> Content:
    path = table.file.parent / table.get("file", str, "")
    try:
        raw = read_limited(path, _LARGEST_FILE)
    except OSError as error:
        table.fail(f"The file {path.name} cannot be read: {error.strerror}.", "file")
    guessed = _TYPES.guess_type(path.name)[0] or "application/octet-stream"
    return Content(raw=base64.b64encode(raw).decode(), media_type=media_type or guessed, filename=filename or path.name)


def _count(table: Table, name: str) -> Count:
    if table.members.get(name) == NUMBER:
        table.value(name)
        return None
    count = table.get(name, int, 1)
    if not 1 <= count <= _MAX_COUNT:
        table.fail(f'{name} must be a number from 1 to {_MAX_COUNT}, or "{NUMBER}".', name)
    return count


def _wait(table: Table, action: str) -> Wait:
    return Wait(table.seconds(action))


def _repeat(table: Table, action: str) -> Repeat:
    steps = _steps([*table.tables("steps")])
    if not steps or any(isinstance(step, SetStatus) and step.ends for step in steps):
        table.fail("repeat needs steps, and none of them may end the task.", action)
    return Repeat(_count(table, action), steps)


def _log(table: Table, action: str) -> Log:
    return Log(table.get(action, str, ""))


def _push(table: Table, action: str) -> Push:
    if not table.get(action, bool, True):
        table.fail("push must be true; remove it otherwise.", action)
    return Push()


_ACTIONS: Mapping[str, Callable[[Table, str], Step]] = {
    **dict.fromkeys(_STATES, _status),
    "artifact": _artifact,
    "wait": _wait,
    "repeat": _repeat,
    "log": _log,
    "push": _push,
}
"""The reader of each action of a step, by its name."""
