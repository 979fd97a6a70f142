"""Save artifacts: ask for the folder, and whether to replace existing files."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from textual.app import App

from inspector.protocol.assemble import AssembledArtifact
from inspector.session.replay.saving import SaveError, existing_names, files_of, save
from inspector.text.typed_path import typed_path
from inspector.tui.notify import notify
from inspector.tui.render.content import plain
from inspector.tui.screens.form import CHOICE, Choice, Field, FormScreen

_MAX_SHOWN = 3
"""The maximum number of existing files that are listed."""
_EXISTING_CHOICES = (
    Choice("both", "keep both: add a number to the new names"),
    Choice("replace", "replace the existing files"),
    Choice("leave", "cancel"),
)


async def save_artifacts(
    app: App[object], artifacts: Sequence[AssembledArtifact], chosen: AssembledArtifact, folder: Path
) -> None:
    """Ask where to save the chosen artifact or all of them, save them, and show the result."""
    name = plain(chosen.name or chosen.artifact_id, limit=40).plain
    choices = [Choice("one", f"this artifact: {name}", ("folder",))]
    if len(artifacts) > 1:
        choices.append(Choice("all", f"all {len(artifacts):,} artifacts", ("folder",)))
    field = Field("folder", "folder", "", str(folder))
    asked = await app.push_screen_wait(FormScreen("Save artifacts", [field], choices, check=_folder_problem))
    if asked is None:
        return
    wanted = artifacts if asked[CHOICE] == "all" else [chosen]
    where = typed_path(asked["folder"])
    items = await asyncio.to_thread(files_of, wanted)
    if not items:
        notify(app, "The selection contains no content to save.", "warning")
        return
    overwrite = False
    if existing := existing_names(items, where):
        more = len(existing) - _MAX_SHOWN
        names = ", ".join(existing[:_MAX_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
        answer = await app.push_screen_wait(FormScreen(f"Files exist: {names}", choices=_EXISTING_CHOICES))
        if answer is None or answer[CHOICE] == "leave":
            return
        overwrite = answer[CHOICE] == "replace"
    try:
        paths = await asyncio.to_thread(save, items, where, overwrite=overwrite)
    except SaveError as error:
        notify(app, str(error), "error")
        return
    notes = "".join(f"\n{item.name}: {item.note}" for item in items if item.note)
    saved = str(paths[0]) if len(paths) == 1 else f"{len(paths):,} files in {where}"
    notify(app, f"Saved {saved}.{notes}", newlines=True)


def _folder_problem(values: Mapping[str, str]) -> str:
    folder = values.get("folder", "")
    try:
        typed_path(folder).is_dir()
    except OSError as error:
        return f"{folder}: {error.strerror}."
    return "" if folder else "Enter a folder."
