"""Notifications and the clipboard, for every screen and widget."""

from __future__ import annotations

from typing import Literal

from textual.message_pump import MessagePump

from inspector.protocol.errors import Fault
from inspector.tui.render.content import plain


def notify(
    node: MessagePump,
    text: str,
    severity: Literal["information", "warning", "error"] = "information",
    *,
    newlines: bool = False,
) -> None:
    """Show a notification; the text may come from an agent, so it is cleaned and never read as markup."""
    node.app.notify(plain(text, newlines=newlines).plain, severity=severity, markup=False)


def notify_fault(node: MessagePump, fault: Fault) -> None:
    """Show what went wrong where no record reports it."""
    notify(node, fault.sentence(), "error")


def copy(node: MessagePump, text: str) -> None:
    """Copy a text with the system's clipboard or, where there is none, with the terminal's sequence (OSC 52).

    A machine that is reached over ssh has no clipboard, or one that its user does not see; its terminal has one.
    """
    import pyperclip  # noqa: PLC0415 - looks for programs when it is imported

    if not text:
        notify(node, "Nothing is selected.", "warning")
        return
    way = "to the clipboard"
    try:
        pyperclip.copy(text)
    except pyperclip.PyperclipException:
        node.app.copy_to_clipboard(text)
        way = "by the terminal"
    notify(node, f"Copied {len(text):,} characters {way}.")
