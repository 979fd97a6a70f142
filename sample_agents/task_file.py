"""Store tasks in an SQLite file, so that they are available after a restart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Message, PushConfig, Task

from .task_store import ContentSize, PushTarget, TaskRecord
from .versions import Version

_FORMAT = 1
_TABLE = "create table if not exists tasks (id text primary key, stamp integer not null, kept text not null)"


class StateFileError(Exception):
    """Raised if a file cannot store tasks; the message has the reason."""


class TaskFile:
    """A file of tasks; `versions` are the protocol versions of webhooks by name. Raises `StateFileError`."""

    def __init__(self, path: Path, versions: Mapping[str, Version]) -> None:
        import sqlite3  # noqa: PLC0415 - loaded only if needed

        self._path = path
        self._versions = versions
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StateFileError(f"{path.parent} cannot be created: {error.strerror}") from error
        try:
            self._file = sqlite3.connect(path, isolation_level=None)
            file_format = self._file.execute("pragma user_version").fetchone()[0]
            if file_format not in (0, _FORMAT):
                raise StateFileError(f"{path} was written by another program or by another version of a2a-inspect")
            self._file.execute(f"pragma user_version = {_FORMAT}")
            self._file.execute("pragma journal_mode = wal")
            self._file.execute("pragma synchronous = normal")
            self._file.execute(_TABLE)
            self._file.execute("select id, stamp, kept from tasks limit 1")  # another program can have such a table
        except sqlite3.Error as error:
            raise StateFileError(f"{path} cannot be used as an SQLite file: {error}") from error

    def records(self, content_size: ContentSize) -> Iterator[TaskRecord]:
        """Yield the stored tasks; raises `StateFileError`."""
        for task_id, text in self._file.execute("select id, kept from tasks order by stamp").fetchall():
            try:
                record = self._record(json.loads(text), content_size)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise StateFileError(f"{self._path} has an invalid task (id {task_id})") from error
            yield record

    def _record(self, stored: Any, content_size: ContentSize) -> TaskRecord:
        record = TaskRecord.restored(
            Task.model_validate(stored["task"]),
            stored["skill"],
            stored["turns"],
            datetime.fromisoformat(stored["changed"]),
            content_size,
            stored.get("changes", 1),
        )
        record.turn_messages += map(Message.model_validate, stored["begun"])
        for value, name in stored["webhooks"]:
            if name in self._versions:
                config = PushConfig.model_validate(value)
                record.webhooks[config.id or ""] = PushTarget(config, self._versions[name])
        return record

    def save(self, record: TaskRecord) -> None:
        """Store the current task."""
        stored = {
            "task": record.snapshot().task().to_json(),
            "skill": record.skill,
            "turns": record.turns,
            "changes": record.changes,
            "begun": [message.to_json() for message in record.turn_messages],
            "changed": record.status_changed.isoformat(),
            "webhooks": [[target.config.to_json(), target.version.name] for target in record.webhooks.values()],
        }
        row = (record.task_id, record.sequence, dump(stored).decode())
        self._file.execute("insert or replace into tasks values (?, ?, ?)", row)

    def forget(self, task_id: str) -> None:
        """Delete a task."""
        self._file.execute("delete from tasks where id = ?", (task_id,))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
