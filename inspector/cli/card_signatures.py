"""The signatures of a card, for `card get --verify`."""

from __future__ import annotations

from inspector.cli.arguments import Invocation
from inspector.cli.errors import usage
from inspector.cli.output import Output
from inspector.cli.styles import Role, Styled
from inspector.findings.signatures.keyset import KeySet
from inspector.findings.signatures.verify import SignatureOutcome, SignatureResult
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.session.card.signing import fetch_keys, verify_card
from inspector.session.connection import Connection
from inspector.session.session import Session
from inspector.wire.signing_keys import read_file

_MOST_UNSIGNED = 3
"""The most unsigned members that are printed without --verbose."""
_ROLES = {SignatureOutcome.VALID: Role.GOOD, SignatureOutcome.WRONG: Role.BAD}
_KEYS_HINT = "Use --keys FILE, or --fetch-keys to fetch them from the jku URLs that have the origin of the card."


class CardSignatures:
    """Verifies the signatures of a card with the keys that the options name; raises `FaultError` for a bad key file."""

    def __init__(self, invocation: Invocation, out: Output) -> None:
        self._out = out
        self._verbose = invocation.verbose
        self._given = invocation.given
        self._keys = read_file(self._given.keys) if self._given.keys else None
        self._verdicts: tuple[SignatureResult, ...] = ()

    async def verify(self, session: Session, connection: Connection) -> None:
        """Verify the signatures with the given keys and, with `--fetch-keys`, fetched keys; print the results."""
        keys, out = self._keys, self._out
        if self._given.fetch_keys:
            keys = (keys or KeySet()) | await fetch_keys(session, connection)
        for note in keys.notes if keys else ():
            out.warn(note)
        self._verdicts = await verify_card(connection, keys)
        for verdict in self._verdicts:
            if out.json:
                out.json_to_stderr(_verdict_json(verdict))
            else:
                _print_verdict(out, verdict, verbose=self._verbose)
        if not self._verdicts and not out.json:
            out.field("Signatures", "none")

    def require_valid(self) -> None:
        """Raise `FaultError` if no signature is valid; a missing signature is an error only with --require-signature.

        Signing is optional (1.0 section 8.4), so that a missing signature is otherwise a warning.
        """
        outcomes = {verdict.outcome for verdict in self._verdicts}
        if not outcomes and self._given.require_signature:
            hint = "Leave out --require-signature, or ask the owner of the agent to sign the card."
            raise _invalid("The card is not signed.", hint)
        if not outcomes:
            self._out.warn("the card is not signed; --require-signature makes this an error")
            return
        if SignatureOutcome.VALID in outcomes:
            return
        if outcomes == {SignatureOutcome.NO_KEY} and not (self._given.keys or self._given.fetch_keys):
            raise usage("The signatures cannot be verified without keys.", _KEYS_HINT)
        first = self._verdicts[0]
        seen = f"No signature of the card is valid. The first: {first.outcome.value}, {first.reason}"
        raise _invalid(seen, _KEYS_HINT if outcomes == {SignatureOutcome.NO_KEY} else "")


def _invalid(seen: str, hint: str) -> FaultError:
    return FaultError(Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, hint))


def _print_verdict(out: Output, verdict: SignatureResult, *, verbose: bool) -> None:
    role = _ROLES.get(verdict.outcome, Role.WARNING)
    out.field("Signature", Styled(verdict.outcome.value, role), f" {verdict.pointer}: {verdict.reason}")
    members = verdict.uncovered
    if members and verbose:
        out.block("Not signed", "\n".join(members))
    elif members:
        more = f" and {len(members) - _MOST_UNSIGNED:,} more" if len(members) > _MOST_UNSIGNED else ""
        out.field("Not signed", f"{', '.join(members[:_MOST_UNSIGNED])}{more}")


def _verdict_json(verdict: SignatureResult) -> dict[str, object]:
    return {
        "index": verdict.index,
        "outcome": verdict.outcome,
        "pointer": verdict.pointer,
        "algorithm": verdict.algorithm,
        "kid": verdict.kid,
        "jku": verdict.jku,
        "canonicalForm": verdict.form,
        "unsignedMembers": verdict.uncovered,
        "reason": verdict.reason,
    }
