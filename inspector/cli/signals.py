"""Handle signals of a command that runs in an event loop."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress


@contextmanager
def on_signal(callback: Callable[[signal.Signals], object], number: signal.Signals) -> Iterator[None]:
    """Call `callback` at a signal; do nothing outside the main thread, or where asyncio does not support signals."""
    loop = asyncio.get_running_loop()
    with ExitStack() as handlers:
        if threading.current_thread() is threading.main_thread():
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, callback, number)
                handlers.callback(loop.remove_signal_handler, number)
        yield
