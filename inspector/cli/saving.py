"""Save the artifacts of a task, for `--save` and `task download`."""

from __future__ import annotations

from pathlib import Path

from inspector.cli.errors import usage
from inspector.cli.output import Output
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.model import Message, Task
from inspector.session.replay.saving import SaveError, save_answer


def save(out: Output, folder: Path, answer: AssembledTask | Task | Message) -> None:
    """Save every artifact in a folder and print the paths, with `-o json` on stderr; raises `FaultError`."""
    try:
        saved = save_answer(answer, folder)
    except SaveError as error:
        raise usage(str(error), "Choose another folder.") from error
    for path, note in saved:
        (out.line_to_stderr if out.json else out.field)("Saved", str(path))
        if note:
            out.warn(f"{path.name}: {note}")
    if not saved:
        out.warn("no artifacts to save")
