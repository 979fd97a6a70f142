"""Free the memory of closed sessions: what caches keep of them, and reference cycles."""

from __future__ import annotations

import re
from typing import Any

from textual._styles_cache import StylesCache
from textual.app import App
from textual.strip import Strip

from inspector.garbage_collection import collect_closed_objects


def free_closed_widgets(app: App[Any]) -> None:
    """Remove closed widgets from Textual's caches and watchers, which keep them, and collect the garbage."""
    StylesCache.get_inner_outer.cache_clear()  # its keys are the caches of the lines of widgets
    Strip.blank.cache_clear()
    re.purge()  # the patterns of secrets
    for watchers in getattr(app, "__watchers", {}).values():  # Textual removes closed widgets with the next change
        watchers[:] = [watcher for watcher in watchers if not watcher[0]._closing]
    collect_closed_objects()
