"""Resolve an entry of a catalog for the commands that search the card of an agent themselves."""

from __future__ import annotations

from inspector.cli.errors import usage
from inspector.cli.run_command import Run


async def card_reference(current: Run) -> str:
    """Return the agent as typed; for an entry of a catalog, return the URL of its card. Raises `FaultError`."""
    reference = current.reference()
    if "#" not in reference:
        return reference
    connection = await current.session.connect(reference)
    if connection.tries:
        return connection.url
    if connection.url:
        hint = f"Write the card to a file: {current.shell_command('card', 'get', '-o', 'json')} > card.json"
        raise usage("The catalog contains the card itself, not its URL.", hint)
    return reference  # a file whose name has this character
