"""Read and write the table of SDKs, transports and operations in `docs/compatibility.md`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import doctor_table
import environments
import hazards_table
from trials import TRIALS

FILE = Path(__file__).resolve().parents[2] / "docs" / "compatibility.md"

Key = tuple[str, str, str]
"""The environment, the transport and the column of a cell."""

OK = "ok"
REJECTED = "SDK: "
"""The prefix of a cell for an operation that the SDK does not implement; its error follows."""

_NO_METHOD = "the generated service has the method, `GrpcHandler` does not implement it"
_PUBLIC = "`GetAgentCard` returns the public card"

LIMITS: Mapping[Key, str] = {
    ("v0_3", "HTTP+JSON", "list"): "`RESTHandler.list_tasks` raises NotImplementedError",
    ("v0_3", "HTTP+JSON", "list push"): "`RESTHandler.list_push_notifications` raises NotImplementedError",
    ("v0_3", "HTTP+JSON", "delete push"): "`RESTAdapter.routes` has no DELETE",
    ("v0_3", "GRPC", "list push"): _NO_METHOD,
    ("v0_3", "GRPC", "delete push"): _NO_METHOD,
    ("v0_3", "GRPC", "extended card"): _PUBLIC,
    ("v0_2", "GRPC", "set push"): "the `validate` around the handler's coroutine does not await it",
    ("v0_2", "GRPC", "list push"): _NO_METHOD,
    ("v0_2", "GRPC", "delete push"): _NO_METHOD,
    ("v0_2", "GRPC", "extended card"): _PUBLIC,
}
"""The operations that the SDKs do not implement, with the reason; any other rejection is a defect of the inspector."""

_TEXT = """# Compatibility

This table shows which operations work between the inspector and agents made with the official Python SDK, one release
for each protocol version. `make interop` starts the agents and tries every operation over every interface on their
cards. A test fails if its result differs from the table. A complete run also writes the results to this file.

{table}

- `ok`: the operation works, and the response conforms to the protocol version.
- `SDK: …`: this release of the SDK does not implement the operation; the cell shows its error.
- `not in …`: the protocol version does not have this operation over this transport; the inspector sends nothing.

`pushes`: a webhook registered with a message receives the same content as the stream.

Operations that the SDKs do not implement:

{limits}

Other limits:

- Over gRPC, SDK 0.2.16 reads the ids of tasks and push configurations up to their first hyphen, and does not find
  them. The agent in this table uses ids without hyphens.
- SDK 0.2.16 has no server for HTTP+JSON.
- SDK 0.3.26 and 0.2.16 do not close the stream of a canceled task. It stays open until the inspector closes it.

{heading}

This table shows the verdict of `a2a-inspect doctor URL --message push` about agents made with the official SDKs for
Python and JavaScript, about the agent of the newest Python SDK behind proxies, and about wrong URLs of this agent. The
last column has the first failed check, its remedy and the first proposal. This table is tested and written like the one
above.

{doctor}

{hazards}"""


def keys() -> list[Key]:
    """Return the keys of all cells, row by row."""
    return [
        (name, transport, column)
        for name, sdk in environments.SDKS.items()
        for transport in sdk.transports
        for column in TRIALS
    ]


def missing(name: str) -> str:
    """Return the cell for an operation that the protocol version does not have."""
    return f"not in {environments.SDKS[name].version}"


def read_table() -> dict[Key, str]:
    """Read the table from the file; it is empty if there is none."""
    lines = _content().partition("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    if not rows:
        return {}
    head, _, *body = rows
    names = {sdk.release: name for name, sdk in environments.SDKS.items()}
    return {
        (names.get(row[0], row[0]), row[1], column): cell
        for row in body
        for column, cell in zip(head[2:], row[2:], strict=True)
    }


def _content() -> str:
    return FILE.read_text(encoding="utf-8") if FILE.exists() else ""


def read_doctor() -> dict[str, str]:
    """Read the results of the doctor from the file."""
    return doctor_table.read(_content())


def render(cells: Mapping[Key, str]) -> str:
    """Return the table as Markdown; a missing cell is a question mark."""
    rows = [["SDK", "transport", *TRIALS]]
    for name, sdk in environments.SDKS.items():
        rows += [
            [sdk.release, transport, *(cells.get((name, transport, column), "?") for column in TRIALS)]
            for transport in sdk.transports
        ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join(_line(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def page(cells: Mapping[Key, str], doctor: Mapping[str, str]) -> str:
    """Return the content of the file for these cells and these results of the doctor."""
    limits = "\n".join(
        f"- {environments.SDKS[name].release} over {transport}, {column}: {why}."
        for (name, transport, column), why in LIMITS.items()
    )
    about = {"heading": doctor_table.HEADING, "doctor": doctor_table.render(doctor), "hazards": hazards_table.section()}
    return _TEXT.format(table=render(cells), limits=limits, **about)


def write(cells: Mapping[Key, str], doctor: Mapping[str, str]) -> bool:
    """Write the file with the complete ones of these results; return whether its content changed."""
    whole = cells if len(cells) == len(keys()) else read_table()
    content = page(whole, doctor if len(doctor) == len(doctor_table.CASES) else read_doctor())
    if content == _content():
        return False
    FILE.write_text(content, encoding="utf-8")
    return True
