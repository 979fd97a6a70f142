"""Save artifacts: ask for the folder, and what to do about existing files."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from textual.app import App

from inspector.protocol.assemble import AssembledArtifact
from inspector.session.replay.saving import SaveError, existing_names, files_of, save
from inspector.tui.notify import notify
from inspector.tui.render.content import plain
from inspector.tui.screens.form import CHOICE, Choice, Field, FormScreen

_SHOWN = 3
"""How many existing files are listed."""
_TAKEN = (
    Choice("both", "keep both: give the new files a number"),
    Choice("replace", "replace what is there"),
    Choice("leave", "save nothing"),
)


async def save_artifacts(
    app: App[object], artifacts: Sequence[AssembledArtifact], chosen: AssembledArtifact, folder: Path
) -> None:
    """Ask where to save the chosen artifact or all of them, save them, and show the result."""
    called = plain(chosen.name or chosen.artifact_id, limit=40).plain
    choices = [Choice("one", f"this one: {called}", ("folder",))]
    if len(artifacts) > 1:
        choices.append(Choice("all", f"all {len(artifacts):,} artifacts", ("folder",)))
    field = Field("folder", "folder", "", str(folder))
    asked = await app.push_screen_wait(FormScreen("SAVE", [field], choices, check=_no_folder))
    if asked is None:
        return
    wanted = artifacts if asked[CHOICE] == "all" else [chosen]
    where = await asyncio.to_thread(Path(asked["folder"]).expanduser)
    items = await asyncio.to_thread(files_of, wanted)
    if not items:
        notify(app, "There is nothing to save in it.", "warning")
        return
    over = False
    if taken := existing_names(items, where):
        names = ", ".join(taken[:_SHOWN]) + (f" and {len(taken) - _SHOWN:,} more" if len(taken) > _SHOWN else "")
        answer = await app.push_screen_wait(FormScreen(f"TAKEN   {names}", choices=_TAKEN))
        if answer is None or answer[CHOICE] == "leave":
            return
        over = answer[CHOICE] == "replace"
    try:
        paths = await asyncio.to_thread(save, items, where, overwrite=over)
    except SaveError as error:
        notify(app, str(error), "error")
        return
    odd = "".join(f"\n{item.name}: {item.note}" for item in items if item.note)
    what = str(paths[0]) if len(paths) == 1 else f"{len(paths):,} files in {where}"
    notify(app, f"Saved {what}.{odd}", newlines=True)


def _no_folder(values: Mapping[str, str]) -> str:
    return "" if values.get("folder") else "Which folder?"
