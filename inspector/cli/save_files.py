"""`--save DIR`: what an agent produced as files, each named with where it went."""

from __future__ import annotations

from pathlib import Path

from inspector.cli.errors import usage
from inspector.cli.output import Output
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.model import Message, Task
from inspector.session.replay.saving import SaveError, save_answer


def save(out: Output, folder: Path, answer: AssembledTask | Task | Message) -> None:
    """Save every artifact of an answer in a folder, beside what is there, and say where: on stderr with `-o json`.

    Raises `FaultError` where a file cannot be written.
    """
    try:
        saved = save_answer(answer, folder)
    except SaveError as error:
        raise usage(str(error), "--save names another folder.") from error
    for path, note in saved:
        (out.tell if out.json else out.field)("Saved", str(path))
        if note:
            out.warn(f"{path.name}: {note}")
    if not saved:
        out.warn("there is nothing to save")
