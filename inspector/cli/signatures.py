"""What `card get --verify` says about the signatures of a card."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.cli.output import Output
from inspector.cli.run_command import Run
from inspector.findings.signatures.keyset import KeySet
from inspector.findings.signatures.verify import Outcome, Verdict
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.session.card.signing import fetch_keys, verify_card
from inspector.session.connection import Connection

_SHOWN = 3
"""How many unsigned places are shown without --verbose."""
_GIVE = "--keys FILE gives them, --fetch-keys fetches those that the signatures name, from the card's own origin."


async def verify(current: Run, connection: Connection, keys: KeySet | None) -> tuple[Verdict, ...]:
    """Verify the signatures of a card, with more keys fetched where that was asked for, and print the verdicts."""
    if current.invocation.given.fetch_keys:
        keys = (keys or KeySet()) | await fetch_keys(current.session, connection)
    for note in keys.notes if keys else ():
        current.out.warn(note)
    verdicts = await verify_card(connection, keys)
    for verdict in verdicts:
        if current.out.json:
            current.out.remark(_as_json(verdict))
        else:
            _print(current.out, verdict, verbose=current.invocation.verbose)
    if not verdicts and not current.out.json:
        current.out.field("Signatures", "none")
    return verdicts


def judge(verdicts: Sequence[Verdict], *, asked: bool) -> None:
    """Raise `FaultError` where no signature is valid: one is enough, the others may be for other readers.

    `asked` says that keys were given or fetched.
    """
    outcomes = {verdict.outcome for verdict in verdicts}
    if not outcomes:
        seen = "The card is not signed."
        raise FaultError(Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, "Whose it is, only its address tells."))
    if Outcome.VALID in outcomes:
        return
    if outcomes == {Outcome.NO_KEY} and not asked:
        seen = "There are no keys to verify the card's signatures with."
        raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, seen, _GIVE))
    first = verdicts[0]
    seen = f"No signature of the card is valid, the first is {first.outcome.value}: {first.reason}"
    hint = _GIVE if outcomes == {Outcome.NO_KEY} else ""
    raise FaultError(Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, hint))


def _print(out: Output, verdict: Verdict, *, verbose: bool) -> None:
    out.field("Signature", f"{verdict.outcome.value} {verdict.pointer}: {verdict.reason}")
    places = verdict.uncovered
    if places and verbose:
        out.block("Not signed", "\n".join(places))
    elif places:
        more = f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else ""
        out.field("Not signed", f"{', '.join(places[:_SHOWN])}{more}")


def _as_json(verdict: Verdict) -> dict[str, object]:
    return {
        "signature": verdict.index,
        "outcome": verdict.outcome,
        "pointer": verdict.pointer,
        "algorithm": verdict.algorithm,
        "kid": verdict.kid,
        "jku": verdict.jku,
        "form": verdict.form,
        "unsigned": verdict.uncovered,
        "reason": verdict.reason,
    }
