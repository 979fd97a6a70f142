"""`redact`: copy a capture without secrets."""

from __future__ import annotations

from inspector.capture.private_files import CaptureError
from inspector.cli.arguments import Invocation
from inspector.cli.errors import OK, usage
from inspector.cli.opened_capture import opened_capture, read_filter
from inspector.cli.output import Output
from inspector.cli.styles import Role, Styled
from inspector.session.exporters.selection import Selection
from inspector.session.sharing.redacted_copy import Found, RedactedCopy, Rules


def redact(invocation: Invocation, out: Output) -> int:
    """Write a copy of a capture without secrets, or show what would be masked; raises `FaultError`."""
    given = invocation.given
    if given.out is None and not given.preview:
        raise usage("The name of the copy is missing.", "Name it with --out, or use --preview.")
    if given.out is not None and given.preview:
        raise usage("--out and --preview contradict each other.", "Leave out one of them.")
    query = read_filter(given.filter)
    secrets = {f"secret {name}": value for name, value in given.secrets or ()}
    rules = Rules(secrets, tuple(given.patterns or ()), pseudonyms=given.pseudonyms)
    records = 0
    with opened_capture(given.file, out) as capture:
        selection = Selection(capture, query)
        if not selection:
            raise usage("There is no record to copy.", "Choose another filter." if query else "")
        copy = RedactedCopy(selection, rules)
        if not given.preview:
            try:
                records = copy.write(given.out)
            except CaptureError as error:
                raise usage(str(error), "Choose another file with --out.") from error
    if out.json:
        written = None if given.preview else str(given.out)
        out.document({"copy": written, "records": records, "rules": [_members(found) for found in copy.found]})
        return OK
    for found in copy.found:
        _print(found, out)
    out.field("Not searched", "texts for passwords and other secrets (mask them with --pattern), and files in Base64")
    if not given.preview:
        out.field("Copy", f"{given.out}, {records:,} records")
    return OK


def _members(found: Found) -> dict[str, object]:
    return {
        "rule": found.rule,
        "matches": found.matches,
        "values": len(found.values),
        "places": dict(found.places.most_common()),
    }


def _print(found: Found, out: Output) -> None:
    if not found.matches:
        out.line(found.rule, Styled(": no matches", Role.SOFT))
        return
    values = f", {len(found.values):,} different" if found.values else ""
    out.line(found.rule, Styled(f": {found.matches:,} matches{values}", Role.SOFT))
    for place, count in found.places.most_common():
        out.line(f"  {count:>7,}  {place}")
