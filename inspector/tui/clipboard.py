"""Copying, by whichever clipboard is there."""

from __future__ import annotations

from collections.abc import Callable


def copy(text: str, by_terminal: Callable[[str], None]) -> str:
    """Copy a text and say by which way: the system's clipboard, or the terminal's own sequence (OSC 52).

    A machine that is reached over ssh has no clipboard, or one that its user does not see; its terminal has.
    """
    import pyperclip  # noqa: PLC0415 - looks for programs when it is imported

    try:
        pyperclip.copy(text)
    except pyperclip.PyperclipException:
        by_terminal(text)
        return "by the terminal"
    return "to the clipboard"
