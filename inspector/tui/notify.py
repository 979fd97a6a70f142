"""Notifications and the clipboard, for every screen and widget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from textual.message_pump import MessagePump

from inspector.protocol.errors import Fault, FaultError
from inspector.tui.render.content import plain


def notify(
    node: MessagePump,
    text: str,
    severity: Literal["information", "warning", "error"] = "information",
    *,
    newlines: bool = False,
) -> None:
    """Show a notification; the text may come from an agent, so it is cleaned and not parsed as markup."""
    node.app.notify(plain(text, newlines=newlines).plain, severity=severity, markup=False)


@contextmanager
def notify_faults(node: MessagePump) -> Iterator[None]:
    """Show a notification if the block raises `FaultError`."""
    try:
        yield
    except FaultError as error:
        notify_fault(node, error.fault)


def notify_fault(node: MessagePump, fault: Fault) -> None:
    """Show a fault as an error notification."""
    notify(node, fault.sentence(), "error")


def copy(node: MessagePump, text: str) -> None:
    """Copy a text to the clipboard or, on a machine without a clipboard (for example over ssh), with OSC 52."""
    import pyperclip  # noqa: PLC0415 - looks for programs when it is imported

    if not text:
        notify(node, "Nothing is selected.", "warning")
        return
    how = "to the clipboard"
    try:
        pyperclip.copy(text)
    except pyperclip.PyperclipException:
        node.app.copy_to_clipboard(text)
        how = "with the terminal (OSC 52)"
    notify(node, f"Copied {len(text):,} characters {how}.")
