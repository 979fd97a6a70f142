"""Notifications and the clipboard, for every screen and widget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from textual.message_pump import MessagePump
from textual.notifications import Notification, Notify

from inspector.protocol.errors import OTHER_REASONS, Fault, FaultError
from inspector.text.sanitise import clean
from inspector.tui.keys import key_of
from inspector.tui.render.content import plain

_LONGEST_FAULT = 300
"""The most characters of a fault, which may quote the agent, so that what to do next is visible, too."""


def notify(
    node: MessagePump,
    text: str,
    severity: Literal["information", "warning", "error"] = "information",
    *,
    newlines: bool = False,
) -> None:
    """Show a notification; the text may come from an agent, so it is cleaned and not parsed as markup."""
    node.app.notify(plain(text, newlines=newlines).plain, severity=severity, markup=False)


def notify_instead(node: MessagePump, before: Notification | None, text: str) -> Notification:
    """Show a warning instead of an earlier warning, because several would cover the screen, and return it."""
    if before is not None:
        node.app.call_later(node.app._unnotify, before)  # after it was shown
    warning = Notification(plain(text).plain, severity="warning", timeout=node.app.NOTIFICATION_TIMEOUT)
    node.app.post_message(Notify(warning))
    return warning


@contextmanager
def notify_faults(node: MessagePump) -> Iterator[None]:
    """Show a notification if the block raises `FaultError`."""
    try:
        yield
    except FaultError as error:
        notify_fault(node, error.fault)


def notify_fault(node: MessagePump, fault: Fault) -> None:
    """Show a fault as an error notification."""
    notify(node, fault_in_words(fault), "error")


def fault_in_words(fault: Fault) -> str:
    """Return a fault, shortened, with what to do next; if credentials may correct it, with the keys to get them."""
    seen = clean(fault.seen, limit=_LONGEST_FAULT)
    if not fault.denied:
        return f"{seen} {fault.hint}".strip()
    keys = f"Press {key_of('credentials')} ({key_of('back')} first in a text)"
    return f"{seen} {denied_hint(fault, keys)}"


def denied_hint(fault: Fault, keys: str) -> str:
    """Return what to do after a denied request; `keys` is how to get credentials, as the beginning of a sentence."""
    hint = f"{keys} to log in or to enter a secret."
    return f"{OTHER_REASONS} {hint}" if fault.refused else hint


def copy(node: MessagePump, text: str) -> None:
    """Copy a text to the clipboard; on a machine without one (for example over ssh) and in a browser, with OSC 52."""
    import pyperclip  # noqa: PLC0415 - looks for programs when it is imported

    if not text:
        notify(node, "Nothing is selected.", "warning")
        return
    text = text.encode("utf-8", "replace").decode()  # JSON may contain half of a surrogate pair, a clipboard may not
    if node.app.is_web:  # this machine may have a different clipboard
        node.app.copy_to_clipboard(text)
        notify(node, f"Copied {len(text):,} characters to the clipboard of the browser.")
        return
    how = "to the clipboard"
    try:
        pyperclip.copy(text)
    except pyperclip.PyperclipException:
        node.app.copy_to_clipboard(text)
        how = "with the terminal (OSC 52)"
    notify(node, f"Copied {len(text):,} characters {how}.")
