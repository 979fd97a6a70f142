"""Keeps tasks in a file (SQLite), so that they outlive the agent that worked on them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Message, PushConfig, Task

from .task_store import Ledger, PushTarget, TaskRecord
from .versions import Version

_FORM = 1
_TABLE = "create table if not exists tasks (id text primary key, stamp integer not null, kept text not null)"


class StateFileError(Exception):
    """Raised where a file cannot be used to keep tasks in; says why."""


class Keeper:
    """A file of tasks; `versions` are those in which webhooks are written to. Raises `StateFileError`."""

    def __init__(self, path: Path, versions: Mapping[str, Version]) -> None:
        import sqlite3  # noqa: PLC0415 - an agent that keeps nothing starts without it

        self._versions = versions
        try:
            self._file = sqlite3.connect(path, isolation_level=None)
            form = self._file.execute("pragma user_version").fetchone()[0]
            if form not in (0, _FORM):
                raise StateFileError(f"{path} is of another program, or of another version of this one")
            self._file.execute(f"pragma user_version = {_FORM}")
            self._file.execute("pragma journal_mode = wal")
            self._file.execute("pragma synchronous = normal")
            self._file.execute(_TABLE)
        except sqlite3.Error as error:
            raise StateFileError(f"{path} cannot keep tasks: {error}") from error

    def records(self, ledger: Ledger) -> Iterator[TaskRecord]:
        """Return the tasks that are kept, those whose status changed last at the end."""
        for (text,) in self._file.execute("select kept from tasks order by stamp").fetchall():
            kept = json.loads(text)
            record = TaskRecord.restored(
                Task.model_validate(kept["task"]),
                kept["skill"],
                kept["turns"],
                datetime.fromisoformat(kept["changed"]),
                ledger,
                kept.get("changes", 1),
            )
            record.begun += map(Message.model_validate, kept["begun"])
            for value, name in kept["webhooks"]:
                if name in self._versions:
                    config = PushConfig.model_validate(value)
                    record.webhooks[config.id or ""] = PushTarget(config, self._versions[name])
            yield record

    def save(self, record: TaskRecord) -> None:
        """Keep a task as it is now."""
        kept = {
            "task": record.snapshot().task().to_json(),
            "skill": record.skill,
            "turns": record.turns,
            "changes": record.changes,
            "begun": [message.to_json() for message in record.begun],
            "changed": record.changed.isoformat(),
            "webhooks": [[one.config.to_json(), one.version.name] for one in record.webhooks.values()],
        }
        row = (record.task_id, record.stamp, dump(kept).decode())
        self._file.execute("insert or replace into tasks values (?, ?, ?)", row)

    def forget(self, task_id: str) -> None:
        """Keep a task no more."""
        self._file.execute("delete from tasks where id = ?", (task_id,))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
