"""Saving from the screen: which folder, what to do about names that are taken, and what came of it."""

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
"""How many of the names that are taken are named."""


async def save_artifacts(
    app: App[object], artifacts: Sequence[AssembledArtifact], chosen: AssembledArtifact, folder: Path
) -> None:
    """Ask where to save one artifact or all of them, and over what; save them, and say what came of it."""
    called = plain(chosen.name or chosen.artifact_id, limit=40).plain
    choices = [Choice("one", f"this one: {called}", ("folder",))]
    if len(artifacts) > 1:
        choices.append(Choice("all", f"all {len(artifacts):,} artifacts", ("folder",)))
    asked = await _ask(app, FormScreen("SAVE", [Field("folder", "folder", "", str(folder))], choices, check=_no_folder))
    if asked is None:
        return
    wanted = artifacts if asked[CHOICE] == "all" else [chosen]
    where = _path(asked["folder"])
    items = await asyncio.to_thread(files_of, wanted)
    if not items:
        notify(app, "There is nothing to save in it.", "warning")
        return
    over = False
    if taken := existing_names(items, where):
        names = ", ".join(taken[:_SHOWN]) + (f" and {len(taken) - _SHOWN:,} more" if len(taken) > _SHOWN else "")
        answer = await _ask(app, FormScreen(f"TAKEN   {names}", choices=_TAKEN))
        if answer is None or answer[CHOICE] == "leave":
            return
        over = answer[CHOICE] == "replace"
    try:
        paths = await asyncio.to_thread(save, items, where, over=over)
    except SaveError as error:
        notify(app, str(error), "error")
        return
    odd = "".join(f"\n{item.name}: {item.note}" for item in items if item.note)
    what = str(paths[0]) if len(paths) == 1 else f"{len(paths):,} files in {where}"
    notify(app, f"Saved {what}.{odd}", newlines=True)


_TAKEN = (
    Choice("both", "keep both: give the new files a number"),
    Choice("replace", "replace what is there"),
    Choice("leave", "save nothing"),
)


async def _ask(app: App[object], form: FormScreen) -> dict[str, str] | None:
    """Show a form and wait for what it gives back."""
    return await app.push_screen_wait(form)


def _path(typed: str) -> Path:
    return Path(typed).expanduser()


def _no_folder(values: Mapping[str, str]) -> str:
    return "" if values.get("folder") else "Which folder?"
