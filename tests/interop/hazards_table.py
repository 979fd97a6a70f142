"""The section about bytes that break clients in `docs/compatibility.md`, from `inspector/findings/hazards.py`."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.findings.hazards import BYTES, FAILURES, HTTP_JSON, VERIFIED, Failure, Hazard, describe

TITLE = "## Bytes that break clients"

_TEXT = """{title}

These bytes are legal, but break a client in use. A finding with the severity hint names the clients of the agent's
protocol version. Verified on {verified}; `make interop` sends the bytes to the Python and JavaScript clients and fails
if a client changes. The other clients were read in the source code of the release.

{table}

Sources of the clients that `make interop` does not run:

{sources}
"""


def section() -> str:
    """Return the section as Markdown."""
    return _TEXT.format(title=TITLE, verified=VERIFIED, table="\n".join(_rows()), sources="\n".join(_sources()))


def _rows() -> Iterator[str]:
    yield "| rule | bytes | clients |"
    yield "| ---- | ----- | ------- |"
    for hazard in Hazard:
        rows = [row for row in FAILURES if row.hazard is hazard]
        groups = [(rows_over, note) for note in ("", " (over HTTP+JSON)") if (rows_over := _noted(rows, note))]
        yield f"| {hazard} | {BYTES[hazard]} | {'; '.join(describe(group) + note for group, note in groups)} |"


def _noted(rows: list[Failure], note: str) -> list[Failure]:
    """Return the rows about HTTP+JSON alone, or the others, if the note is empty."""
    return [row for row in rows if (row.bindings == (HTTP_JSON,)) is bool(note)]


def _sources() -> Iterator[str]:
    clients = dict.fromkeys(row.client for row in FAILURES if row.client.source)
    for client in clients:
        files = sorted({f"`{row.file}`" for row in FAILURES if row.client is client})
        yield f"- {client.source}: {', '.join(files)}"
