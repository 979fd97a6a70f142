"""The files that tools may read: those below the folder in which the server was started, and captures."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from inspector.capture.paths import captures_folder, recent_captures
from inspector.mcp_server.results import refused
from inspector.text.typed_path import typed_path


def readable_file(name: str, *more: Path) -> Path:
    """Return the path of a file that exists below the current folder or below one of `more`; raises `ToolError`.

    The caller of a tool may follow instructions of an agent that it talks to, so it cannot choose any file of the user.
    """
    folders = [folder.resolve() for folder in (Path.cwd(), *more)]
    try:
        path = typed_path(name).resolve()
        if not any(path.is_relative_to(folder) for folder in folders):
            allowed = " or ".join(map(str, folders))
            raise refused(f"{name} is not below {allowed}. Start the server in the folder with the files.")
        if not path.is_file():
            raise refused(f"{name} does not exist, or is not a file. Name a file below {folders[0]}.")
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
        why = error.strerror if isinstance(error, OSError) else "a loop of symbolic links"
        raise refused(f"{name!r} cannot be read: {why}. Name a file below {folders[0]}.") from error
    return path


def capture_path(name: str) -> Path:
    """Return the path of a capture: a path, a name in its folder, or `""` for the newest; raises `ToolError`."""
    folder = captures_folder()
    if not name:
        newest = recent_captures(1)
        if not newest:
            raise refused(f"Call doctor or send first, or name a capture file: {folder} has no capture yet.")
        return newest[0].path
    with suppress(OSError):  # a name that is too long is refused below
        if Path(name).name == name and (folder / name).is_file():
            return folder / name
    return readable_file(name, folder)


def capture_name(path: Path) -> str:
    """Return what names a capture in the arguments of tools: its name in the captures folder, or its path."""
    return path.name if path.parent == captures_folder() else str(path)
