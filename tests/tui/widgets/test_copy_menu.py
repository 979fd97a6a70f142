"""The menu for copying, for records that cannot be read."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.session.replay.recording import Recording
from inspector.tui.screens.menu import Entry
from inspector.tui.widgets.copy_menu import copy_menu


async def test_every_entry_for_a_request_that_cannot_be_read_is_a_text(tmp_path: Path):
    path = tmp_path / "odd.a2a"
    with Capture.create(path) as capture:
        meta = {"method": "POST", "url": "http://h/", "headers": []}
        capture.append(Kind.REQUEST, 1.0, operation="SendMessage", meta=meta)
        head = {"status": 200, "reason": "OK", "http": "HTTP/1.1", "headers": []}
        capture.append(Kind.RESPONSE, 1.0, exchange=1, operation="SendMessage", meta=head)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE record SET meta = '{}' WHERE seq = 1")
    connection.close()
    recording = Recording(path)
    [*_] = recording.read()
    menu = copy_menu(recording, recording.journal.capture.get(2), None, whole=True)
    enabled = {entry.text: entry.value for entry in menu if isinstance(entry, Entry) and entry.enabled}
    assert "URL" not in enabled
    assert "cannot be read: its method" in enabled["Request as HTTP text"]()
    assert all(isinstance(value(), str) for value in enabled.values())
    await recording.close()
