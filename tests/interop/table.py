"""The table of what each SDK does over each transport, as it is kept in `docs/compatibility.md`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import environments
from trials import TRIALS

FILE = Path(__file__).resolve().parents[2] / "docs" / "compatibility.md"

Key = tuple[str, str, str]
"""The environment, the transport and the column of a cell."""

OK = "ok"
REFUSED = "SDK: "
"""How a cell begins that says what an SDK answers with which does not implement an operation."""

_NO_METHOD = "the service that it generates has the method, its `GrpcHandler` leaves it out"
_PUBLIC = "`GetAgentCard` answers with the public card"

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
"""What the SDKs do not implement, and how that is known: whatever else they refuse is a failure of ours."""

_TEXT = """# Compatibility

What the inspector does with agents made with the official Python SDK, one release for each protocol version. The table
is written by `make interop`, which starts the agents and tries every operation over every interface that they
declare; its tests fail where an agent does something else than the table says, and write down what it does.

{table}

- `ok`: the inspector asked, the agent did it, and what it answered is what the protocol version's specification says.
- `SDK: …`: this version of the SDK does not implement the operation, and answers with that.
- `not in …`: the protocol version has no such operation over this transport; the inspector says so and sends nothing.

`pushes` are the deliveries to the inspector's own webhook, registered with a message, and tell the same as its stream.

What the SDKs leave out:

{limits}

The SDK 0.2.16 reads the ids of tasks and of push configurations over gRPC up to their first hyphen and then knows
neither; the agent of this table makes ids without hyphens. It has no server for HTTP+JSON. Both 0.3.26 and 0.2.16 leave
the stream of a task open when the task is canceled; it stays open until the inspector closes it.
"""


def keys() -> list[Key]:
    """Return every cell, row by row."""
    return [
        (name, transport, column)
        for name, sdk in environments.SDKS.items()
        for transport in sdk.transports
        for column in TRIALS
    ]


def missing(name: str) -> str:
    """Return the cell of an operation that a version does not have."""
    return f"not in {environments.SDKS[name].version}"


def kept() -> dict[Key, str]:
    """Read the table in the file; empty where there is none."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
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


def drawn(cells: Mapping[Key, str]) -> str:
    """Draw the table; a cell that did not come to a verdict is a question mark."""
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


def text(cells: Mapping[Key, str]) -> str:
    """Write the file as it is with these cells."""
    limits = "\n".join(
        f"- {environments.SDKS[name].release} over {transport}, {column}: {why}."
        for (name, transport, column), why in LIMITS.items()
    )
    return _TEXT.format(table=drawn(cells), limits=limits)


def keep(cells: Mapping[Key, str]) -> bool:
    """Write the file, and say whether that changed it."""
    written = text(cells)
    if FILE.exists() and FILE.read_text(encoding="utf-8") == written:
        return False
    FILE.write_text(written, encoding="utf-8")
    return True
