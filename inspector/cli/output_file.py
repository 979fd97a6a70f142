"""Write a result to a new file, which only its owner may read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from inspector.capture.private_files import CaptureError, private_folder, reason
from inspector.cli.errors import usage


def write_new_file(path: Path, pieces: Iterable[str]) -> None:
    """Write pieces of text to a new file with mode 0600; raises `FaultError`, also if the file exists.

    Missing folders are created. If writing fails or `pieces` raises an error, the file is deleted.
    """
    try:
        private_folder(path.parent)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise usage(f"The file {path} exists already.", "Choose another name, or delete the file.") from None
    except OSError as error:
        raise usage(f"Cannot create {path}: {reason(error)}.", "Choose another folder or name.") from error
    except CaptureError as error:
        raise usage(str(error), "Choose another folder.") from error
    try:
        with open(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:  # noqa: PTH123
            file.writelines(pieces)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise usage(f"Cannot write {path}: {reason(error)}.", "Choose another folder or name.") from error
    except BaseException:
        path.unlink(missing_ok=True)
        raise
