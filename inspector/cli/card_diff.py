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
from inspector.text.reference import local_path
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
        new = current.reference()
        after = await _card(current, new, raw)
        # If the second card is not that of an agent, the credentials are for the first.
        is_local = new == STDIN or local_path(new) is not None
        before = await _card(current, old, raw, home="" if is_local else new)
        changes.extend(card_difference(before, after))
        if out.json:
            out.document([_as_json(change) for change in changes])
            return
        if before.dialect.version != after.dialect.version:
            versions = f"{before.dialect.version} and {after.dialect.version}"
            out.warn(f"the cards are of A2A {versions}: compared as cards of 1.0")
        for change in changes:
            out.line(*_pieces(change))
        out.field("Changes", str(len(changes)) if changes else "none")

    return run(invocation, out, work) or (FAILURE if changes else OK)


async def _card(current: RunningCommand, reference: str, raw: bytes, *, home: str = "") -> FoundCard:
    """Return the card of a URL or a file, or for `-` that of the bytes from stdin; raises `FaultError`.

    `home` is the agent to which the credentials belong, `""` if it is this one.
    """
    if reference == STDIN:
        return read_given(raw, _STDIN)
    session = current.session
    try:
        with current.out.progress.waiting(lambda: f"waiting for the card of {reference}"):
            found = await (find_other_card(session, reference, home) if home else session.cards.find(reference))
    except FaultError as error:
        raise current.with_names(error) from error.__cause__
    if found.elsewhere:
        current.out.warn(f"{reference}: {found.elsewhere}")
    return found.found


def _pieces(change: Change) -> list[Piece]:
    """Return the sign of a change, its place and its values."""
    pieces: list[Piece] = [_SIGNS[change.how], f" {' / '.join(change.path) or 'the whole card'}"]
    if change.how is How.MOVED:
        return [*pieces, ": the same items in another order"]
    return [*pieces, f": {' -> '.join(dump(value).decode() for value in _values(change).values())}"]


def _values(change: Change) -> dict[str, Json]:
    """Return the values of a change: `before`, `after`, or both."""
    values: dict[str, Json] = {}
    if change.how in (How.CHANGED, How.REMOVED):
        values["before"] = change.before
    if change.how in (How.CHANGED, How.ADDED):
        values["after"] = change.after
    return values


def _as_json(change: Change) -> Json:
    return {"change": change.how.value, "pointer": change.pointer, **_values(change)}
