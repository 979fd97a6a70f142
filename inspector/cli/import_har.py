"""`import`: read a HAR file into a capture."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from inspector.capture import paths
from inspector.capture.private_files import CaptureError, remove
from inspector.capture.store import Capture
from inspector.cli.arguments import Invocation
from inspector.cli.errors import OK, refuse_url, usage
from inspector.cli.output import Output
from inspector.session.importers.har import Imported, import_har


def import_file(invocation: Invocation, out: Output) -> int:
    """Write the exchanges of a HAR file to a new capture; raises `FaultError` if the file is not valid."""
    given = invocation.given
    refuse_url(given.file, "a HAR file", "Save the HAR file of the browser or the proxy, and name its path.")
    try:
        path = invocation.options.capture or paths.new_capture_path(given.file.stem, datetime.now().astimezone())
        imported = _import(given.file, path, others=given.all)
    except CaptureError as error:
        raise usage(str(error), "Choose another file with --capture.") from error
    if imported.without_body:
        entries = "1 entry has" if imported.without_body == 1 else f"{imported.without_body:,} entries have"
        out.warn(f"{entries} no body of the response: save the HAR file with content")
    if out.json:
        out.document({"capture": str(path), **imported._asdict()})
        return OK
    out.field("Capture", str(path))
    out.field("Imported", f"{imported.records:,} records")
    if imported.left_out:
        out.warn(f"{imported.left_out:,} entries are not A2A and were left out; --all imports them")
    return OK


def _import(file: Path, path: Path, *, others: bool) -> Imported:
    """Create the capture, and delete it if the import fails."""
    capture = Capture.create(path)
    try:
        with capture:
            imported = import_har(file, capture, others=others)
        if capture.failure:  # known after closing, which writes the last records
            raise CaptureError(capture.failure)
    except BaseException:
        remove(path)
        raise
    return imported
