"""What is loaded after the first paint: the session, the clients under it and the demo's agent."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from inspector.capture import places, recent

if TYPE_CHECKING:
    from inspector.options import Options
    from inspector.session.connection import Connection
    from inspector.session.session import Session


def load() -> None:
    """Import what a session needs; takes a good part of a second, so it is done in a thread, behind the first paint."""
    import_module("inspector.session.session")
    import_module("inspector.session.settings")


def open_session(options: Options, reference: str) -> Session:
    """Make a session with a capture of its own; raises `CaptureError` where the file cannot be made."""
    session_module = import_module("inspector.session.session")
    settings_module = import_module("inspector.session.settings")
    host = urlsplit(reference).netloc or reference
    path = options.capture or places.new_capture_path(host, datetime.now().astimezone())
    session: Session = session_module.Session(path, settings_module.settings_of(options))
    return session


def remember(session: Session, connection: Connection) -> str:
    """Put an agent at the head of the recent ones; returns a sentence where that failed, else `""`."""
    generation = connection.choice.dialect.generation if connection.choice else ""
    agent = recent.RecentAgent(connection.reference, connection.card.name, generation, time.time())
    return recent.remember(agent, session.journal.redactor)


def tidy_captures() -> None:
    """Delete the oldest captures beyond what is kept."""
    places.prune(places.captures_folder())


def start_demo() -> tuple[str, Callable[[], None]]:
    """Start the built-in mock agent in a thread of this process; returns its url and what stops it."""
    server = import_module("inspector.sample_agents.server")
    running: AbstractContextManager[str] = server.serve_in_thread()
    stack = ExitStack()
    return stack.enter_context(running), stack.close
