"""Undo: the stack of changes, and remarks on records."""

from __future__ import annotations

import pytest
from driving import Open

from inspector.tui.undo import UndoStack


def test_the_newest_change_that_still_has_an_effect_is_undone():
    stack, undone = UndoStack(), list[str]()

    def undo(name: str, *, effective: bool) -> bool:
        undone.append(name)
        return effective

    stack.add("first", lambda: undo("first", effective=True))
    stack.add("second", lambda: undo("second", effective=False))
    assert stack.name == "second"
    assert stack.undo() == "first"
    assert undone == ["second", "first"]
    assert (stack.name, stack.undo()) == ("", "")


def test_a_change_that_could_not_be_undone_can_be_undone_later():
    stack, failing = UndoStack(), [True]

    def undo() -> bool:
        if failing:
            raise OSError(failing.pop())
        return True

    stack.add("delete", undo)
    with pytest.raises(OSError):
        stack.undo()
    assert stack.undo() == "delete"


async def test_a_removed_or_changed_note_is_restored(open_app: Open, mock: str):
    async with open_app(mock, (120, 40), run={"notifications": True}) as driver:
        await driver.connected()
        await driver.ask("echo hello")
        driver.timeline.focus()
        marks = driver.session.bookmarks

        async def note(text: str) -> None:
            await driver.press("A", "ctrl+u")
            await driver.type(text)
            await driver.press("enter")

        await note("strange")
        seq = driver.records()[-1].meta["about"]
        assert not driver.enabled("ctrl+z")
        await note("")
        await driver.until(f"Undo: remove the remark on #{seq}")
        assert marks.remark_on(seq) == ""
        await driver.press("ctrl+z")
        assert marks.remark_on(seq) == "strange"
        await note("normal")
        await driver.press("ctrl+z")
        assert marks.remark_on(seq) == "strange"
        assert not driver.enabled("ctrl+z")
