"""`card diff`: print the differences between two agent cards."""

from __future__ import annotations

from pathlib import Path

from inspector.agents_file import load_agents
from inspector.cli.arguments import Invocation
from inspector.cli.errors import FAILURE, OK, usage
from inspector.cli.output import Output
from inspector.cli.run_command import run
from inspector.cli.running_command import RunningCommand
from inspector.cli.stdin import STDIN, read_card
from inspector.cli.styles import Piece, Role, Styled
from inspector.protocol.difference import Change, How
from inspector.protocol.errors import FaultError
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Json
from inspector.session.card.changes import card_difference
from inspector.session.card.other_card import find_other_card
from inspector.wire.discovery import FoundCard, read_given

_STDIN = "text on stdin"
"""What errors call a card that was read from stdin."""
_SIGNS = {
    How.ADDED: Styled("+", Role.GOOD),
    How.REMOVED: Styled("-", Role.BAD),
    How.CHANGED: Styled("~", Role.WARNING),
    How.MOVED: Styled("^", Role.WARNING),
}


def diff(invocation: Invocation, out: Output) -> int:
    """Print the differences between two cards; the exit code is 1 if there are any."""
    old, new = invocation.given.old, invocation.options.reference
    if (named := load_agents().agents.get(old)) is not None and not Path(old).exists():
        old = named.url
    if old == new == STDIN:
        raise usage("Only one of the two cards can be read from stdin.")
    # Read here and not in the event loop, which would not react to Ctrl-C while it waits for stdin.
    raw = read_card() if STDIN in (old, new) else b""
    changes: list[Change] = []

    async def work(current: RunningCommand) -> None:
        after = await _new_card(current, raw)
        with current.out.progress.waiting(lambda: f"waiting for the card of {old}"):
            before = read_given(raw, _STDIN) if old == STDIN else await find_other_card(current.session, old, new or "")
        changes.extend(card_difference(before, after))
        if out.json:
            out.document([_as_json(change) for change in changes])
            return
        if before.dialect.version != after.dialect.version:
            out.warn(
                f"the cards are of A2A {before.dialect.version} and {after.dialect.version}: compared as cards of 1.0"
            )
        for change in changes:
            out.line(*_pieces(change))
        out.field("Changes", str(len(changes)) if changes else "none")

    return run(invocation, out, work) or (FAILURE if changes else OK)


async def _new_card(current: RunningCommand, raw: bytes) -> FoundCard:
    """Return the card of the agent, or for `-` that of the bytes from stdin; raises `FaultError`."""
    reference = current.reference()
    if reference == STDIN:
        return read_given(raw, _STDIN)
    try:
        with current.out.progress.waiting(lambda: f"waiting for the card of {reference}"):
            return (await current.session.cards.find(reference)).found
    except FaultError as error:
        raise current.with_names(error) from error.__cause__


def _pieces(change: Change) -> list[Piece]:
    """Return the sign of a change, its place and its values."""
    pieces: list[Piece] = [_SIGNS[change.how], f" {' / '.join(change.path) or 'the whole card'}"]
    if change.how is How.MOVED:
        return [*pieces, ": the same items in another order"]
    values = [_compact(value) for present, value in _values(change) if present]
    return [*pieces, f": {' -> '.join(values)}"]


def _values(change: Change) -> tuple[tuple[bool, Json], tuple[bool, Json]]:
    """Return for the earlier and the later value whether there is one, and the value."""
    changed = change.how is How.CHANGED
    return (changed or change.how is How.REMOVED, change.before), (changed or change.how is How.ADDED, change.after)


def _compact(value: Json) -> str:
    return dump(value).decode()


def _as_json(change: Change) -> Json:
    names = ("before", "after")
    values = {name: value for name, (present, value) in zip(names, _values(change), strict=True) if present}
    return {"change": change.how.value, "pointer": change.pointer, **values}
