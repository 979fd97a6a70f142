"""What is loaded after the first paint: the session, the clients under it and the demo's agent."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from inspector.capture import card_history, paths, recent_agents
from inspector.capture.private_files import CaptureError

if TYPE_CHECKING:
    from inspector.options import Options
    from inspector.session.card.changes import EarlierCard
    from inspector.session.connection import Connection
    from inspector.session.replay.recording import Recording
    from inspector.session.session import Session
    from inspector.tui.render.glyphs import Glyphs
    from inspector.tui.views.base import Place

_GARBAGE = (20_000, 20, 50)
"""The thresholds of the collector: a screen that is drawn makes thousands of objects, hardly one of them in a cycle."""


def load() -> None:
    """Import what a session needs; takes a good part of a second, so it is done in a thread, behind the first paint."""
    import_module("inspector.session.session")
    import_module("inspector.session.settings")
    # What is loaded stays. To look through all of it again and again for garbage holds up keys for a tenth of a second.
    # Once only: what is frozen is never freed, and a second session would freeze what the first one left.
    if not gc.get_freeze_count():
        gc.freeze()
        gc.set_threshold(*_GARBAGE)


def load_places() -> Sequence[Callable[[Glyphs], Place]]:
    """Import the places that are not seen at first, and return what makes them, in their order."""
    names = (
        ("chat", "Talk"),
        ("tasks", "TasksPlace"),
        ("webhooks", "WebhooksPlace"),
        ("traffic", "TrafficPlace"),
        ("findings", "FindingsPlace"),
    )
    import_module(
        "inspector.tui.widgets.card_editor"
    )  # of the first place, but a part that is not seen at first either
    return [getattr(import_module(f"inspector.tui.views.{module}"), name) for module, name in names]


def open_session(options: Options, reference: str) -> Session:
    """Make a session with a capture of its own; raises `CaptureError` where the file cannot be made."""
    session_module = import_module("inspector.session.session")
    settings_module = import_module("inspector.session.settings")
    host = urlsplit(reference).netloc or reference
    path = options.capture or paths.new_capture_path(host, datetime.now().astimezone())
    session: Session = session_module.Session(path, settings_module.settings_from(options))
    return session


def open_recording(path: Path) -> tuple[Recording, bool]:
    """Open a capture to look at, and say whether it is still being written.

    Raises `CaptureError` with the sentence for the user where it cannot be opened.
    """
    opened = import_module("inspector.session.replay.recording")
    written = paths.is_being_written(path)
    recording: Recording = opened.Recording(path)
    return recording, written


def remember(session: Session, connection: Connection) -> str:
    """Put an agent at the head of the recent ones; returns a sentence where that failed, else `""`."""
    generation = connection.choice.dialect.generation if connection.choice else ""
    agent = recent_agents.RecentAgent(connection.reference, connection.card.name, generation, time.time())
    return recent_agents.remember(agent, session.journal.redactor)


def see_card(session: Session, *, keep: bool) -> tuple[list[EarlierCard], str]:
    """Compare the card with those that were seen of its agent before, and `keep` it for the next time.

    Returns the comparisons, and a sentence where cards could not be read or kept, else `""`.
    """
    connection, redactor, problem = session.connection, session.journal.redactor, ""
    if connection is None:
        return [], ""
    url = redactor.url(connection.url) if connection.url else str(Path(connection.reference).absolute())
    raw = redactor.body(connection.found.raw)
    if keep:
        try:
            if not session.history:
                session.history.load(card_history.seen_cards(url))
            card_history.keep_card(url, raw, connection.at)
        except CaptureError as error:
            problem = str(error)
    session.history.see(raw, connection.at)
    return session.history.earlier(), problem


def tidy_captures() -> None:
    """Delete the oldest captures beyond what is kept."""
    paths.prune(paths.captures_folder())


def start_demo() -> tuple[str, Callable[[], None]]:
    """Start the built-in mock agent in a thread of this process; returns its url and what stops it."""
    server = import_module("inspector.sample_agents.server")
    running: AbstractContextManager[str] = server.serve_in_thread()
    stack = ExitStack()
    return stack.enter_context(running), stack.close
