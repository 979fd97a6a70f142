"""The recorded requests as a shell script of curl commands, without credentials."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inspector.capture.redaction import MASK
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.errors import FaultError, usage_error
from inspector.session.exporters.curl import recorded, write
from inspector.session.exporters.json_lines import iso_time
from inspector.session.exporters.selection import Selection
from inspector.text.sanitise import clean


def write_capture(selection: Selection, warn: Callable[[str], None]) -> Iterator[str]:
    """Write a command for each chosen request, without headers with masked values; a comment names these headers.

    Masked values in the URL and in the body are written as they were recorded, and a comment asks to replace them.
    Raises `FaultError` if no request was chosen.
    """
    if not selection.requests:
        raise usage_error(
            "There is no request to export as a curl command.", "Choose another filter or another format."
        )
    yield "#!/bin/sh\n"
    all_hidden: dict[str, None] = {}
    for number in selection.requests:
        request = selection.capture.get(number)
        binding = BINDINGS.get(str(request.meta.get("binding", "JSONRPC")))
        if binding is None:
            warn(f"left out: #{number}: its binding is unknown")
            continue
        try:
            command = write(recorded(request, binding))
        except FaultError as error:
            warn(f"left out: #{number}: {error.fault.seen}")
            continue
        title = " ".join(filter(None, (request.operation, request.label)))
        hidden = [clean(str(name)) for name, value in request.meta["headers"] if MASK in str(value)]
        places = {"the URL": MASK in request.meta["url"], "the body": MASK.encode() in request.raw}
        masked = [place for place, is_masked in places.items() if is_masked]
        all_hidden |= dict.fromkeys([*hidden, *(f"values in {place}" for place in masked)])
        needed = f"# Add the secret headers: {', '.join(hidden)}\n" if hidden else ""
        needed += f"# Replace {MASK} in {' and in '.join(masked)}.\n" if masked else ""
        yield f"\n# #{number} {iso_time(request.at)} {clean(title)}\n{needed}{command}\n"
    if all_hidden:
        warn(f"secrets left out: {', '.join(all_hidden)}")
