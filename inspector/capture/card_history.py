"""The last versions of the cards of recent agents, stored between sessions for comparison."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from inspector.capture.paths import state_folder
from inspector.capture.private_files import CaptureError, private_folder, reason, replace_file
from inspector.lazy_dataclass import dataclass

MOST_VERSIONS = 5
"""The largest number of stored versions of a card."""
MOST_AGENTS = 100
"""The largest number of agents whose cards are stored."""
LARGEST = 16 * 2**20
"""The size of the largest card that is stored, in bytes."""


@dataclass(frozen=True, slots=True)
class SeenCard:
    """A card as it was served, with masked secrets.

    `first` and `last` are the times when it was first and last seen, in seconds since 1970.
    """

    raw: bytes
    first: float
    last: float


def cards_folder() -> Path:
    """Return the folder with the stored cards."""
    return state_folder() / "cards"


def seen_cards(url: str) -> list[SeenCard]:
    """Return the stored versions of the card at `url` (secrets masked), the last seen first; raises `CaptureError`."""
    try:
        files = [_read(path) for path in _versions(_folder_of(url))]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CaptureError(f"Cannot read the earlier cards in {_folder_of(url)}: {reason(error)}.") from error
    return list(filter(None, files))


def store_card(url: str, raw: bytes, at: float) -> None:
    """Store the card that was seen at `url`, both with masked secrets; raises `CaptureError`."""
    if len(raw) > LARGEST:
        return
    folder = _folder_of(url)
    private_folder(folder)
    try:
        known = next((path for path in _versions(folder) if path.read_bytes() == raw), None)
        if known is None:
            known = folder / f"{int(at * 1000)}.json"
            replace_file(known, raw)
        os.utime(known, (at, at))
        os.utime(folder, (at, at))
        for path in _versions(folder)[MOST_VERSIONS:]:
            path.unlink()
        _remove_old_agents(folder.parent)
    except OSError as error:
        raise CaptureError(f"Cannot store the card in {folder}: {reason(error)}.") from error


def _folder_of(url: str) -> Path:
    return cards_folder() / hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _versions(folder: Path) -> list[Path]:
    """Return the files of the versions, the last seen first."""
    files = [path for path in folder.iterdir() if path.suffix == ".json" and path.stem.isdigit()]
    return sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)


def _read(path: Path) -> SeenCard | None:
    """Read one version, None if another process has removed it meanwhile."""
    with suppress(FileNotFoundError):
        return SeenCard(path.read_bytes(), int(path.stem) / 1000, path.stat().st_mtime)
    return None


def _remove_old_agents(cards: Path) -> None:
    folders = sorted((path for path in cards.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
    for folder in folders[:-MOST_AGENTS]:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
