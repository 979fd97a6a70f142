"""The tasks in the newest capture, for completions: read with SQLite alone, so that it is fast."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from inspector.capture.paths import recent_captures
from inspector.protocol.lifecycle import short

_MOST_RECORDS = 50_000
"""How many records are searched, from the end of the capture."""
_LONGEST_ID = 200


class RecentTask(NamedTuple):
    """The id of a task, and its last recorded state."""

    id: str
    description: str


def recent_tasks(limit: int) -> list[RecentTask]:
    """Return up to `limit` tasks of the newest capture that has tasks, the newest first; none if it cannot be read."""
    for capture in recent_captures(limit=3):
        found = _tasks_in(capture.path, limit)
        if found:
            return found
    return []


def _tasks_in(path: Path, limit: int) -> list[RecentTask]:
    query = """
        SELECT task, max(seq) AS last, max(CASE WHEN state != '' THEN printf('%012d', seq) || state END)
        FROM (SELECT seq, task, state FROM record ORDER BY seq DESC LIMIT ?)
        WHERE task != '' GROUP BY task ORDER BY last DESC LIMIT ?
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0.05)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            rows = connection.execute(query, (_MOST_RECORDS, limit)).fetchall()
    except sqlite3.Error:  # another program writes it, or it is not a capture
        return []
    return [
        RecentTask(task, short(str(state)[12:]) if state else "")
        for task, _, state in rows
        if isinstance(task, str) and len(task) <= _LONGEST_ID and task.isprintable() and " " not in task
    ]
