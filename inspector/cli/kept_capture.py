"""The capture of a command whose record is kept: a chosen file, or a new file in the captures folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from inspector.capture import paths
from inspector.capture.private_files import CaptureError, remove
from inspector.cli.errors import usage
from inspector.options import Options


@contextmanager
def kept_capture(options: Options, name: str, is_worth_keeping: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield the path of the capture; a new file has `name` in its name, and is deleted if it is not worth keeping.

    Old captures are deleted according to the settings. Raises `FaultError` if the file cannot be created.
    """
    if options.capture is not None:
        yield options.capture
        return
    try:
        path = paths.new_capture_path(name, datetime.now().astimezone())
    except CaptureError as error:
        raise usage(str(error), "Choose another file with --capture.") from error
    try:
        yield path
    finally:
        if not is_worth_keeping(path):
            remove(path)
        paths.prune(paths.captures_folder(), keep=options.keep_captures, most_bytes=options.keep_megabytes * 2**20)
