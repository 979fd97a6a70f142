"""`card get`: print an agent card, its findings and its signatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inspector.cli.errors import usage
from inspector.cli.findings import count, in_words
from inspector.cli.output import Output
from inspector.cli.run_command import Run, command
from inspector.findings.finding import Finding, Severity
from inspector.findings.lint import check
from inspector.findings.signatures.keyset import KeySet
from inspector.findings.signatures.verify import SignatureOutcome, SignatureResult
from inspector.protocol.card import AgentCard, AgentSkill
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.operations import Operation
from inspector.protocol.security import requirements_in_words
from inspector.protocol.selection import options
from inspector.session.card.signing import fetch_keys, verify_card
from inspector.session.connection import Connection
from inspector.session.exporters.json_lines import finding_json
from inspector.wire.signing_keys import read_file

_MOST_UNSIGNED = 3
"""The most unsigned members that are printed without --verbose."""
_KEYS_HINT = "Use --keys FILE, or --fetch-keys to fetch them from the jku URLs that have the origin of the card."


@command
async def get(current: Run) -> None:
    """Print the card of an agent."""
    given, out = current.invocation.given, current.out
    keys = read_file(given.keys) if given.keys else None
    connection = await current.connect()
    if given.extended:
        connection = await _extended(current, connection)
    validate, verify = given.validate, bool(given.verify or given.keys or given.fetch_keys)
    if out.json:
        out.document(parse(connection.found.raw))
    else:
        _CardPrinter(out, verbose=current.invocation.verbose).print(connection)
        if not validate:
            out.field("Findings", count(connection.findings))
        if not verify and connection.card.signatures:
            out.field("Signatures", f"{len(connection.card.signatures)}, not verified")
    if validate:
        _list_findings(out, connection.findings)
    verdicts = await _verify(current, connection, keys) if verify else ()
    errors = tuple(finding for finding in connection.findings if finding.severity is Severity.ERROR)
    if validate and errors:
        raise _invalid(f"The card is not valid: {count(errors)}; the first is {errors[0].rule} ({errors[0].seen}).")
    if verify:
        _check_verdicts(verdicts, has_keys=bool(given.keys or given.fetch_keys))


async def _extended(current: Run, public: Connection) -> Connection:
    """Return the connection with the extended card instead of the public card (A2A 1.0 section 3.1.11)."""
    current.check_interface()
    current.allow(Operation.EXTENDED_CARD)
    hint = "Leave out --extended to print the public card."
    answer = await current.ask(current.session.extended_card(), AgentCard, unsupported_hint=hint)
    choice = current.session.choice
    value = choice.dialect.encode_card(answer)
    found = replace(public.found, card=answer, dialect=choice.dialect, raw=dump(value))
    findings = check(value, choice.dialect.version)
    return replace(public, url=choice.interface.url, found=found, findings=findings)


def _list_findings(out: Output, findings: tuple[Finding, ...]) -> None:
    for finding in findings:
        if out.json:
            out.json_to_stderr(finding_json(finding))
        else:
            out.field("Finding", in_words(finding))
    if not findings and not out.json:
        out.field("Findings", "none")


def _invalid(seen: str, hint: str = "") -> FaultError:
    return FaultError(Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, hint))


class _CardPrinter:
    """Prints a card as fields."""

    def __init__(self, out: Output, *, verbose: bool) -> None:
        self._out = out
        self._verbose = verbose

    def print(self, connection: Connection) -> None:
        """Print the agent's identity, interfaces, capabilities, security and skills."""
        card = connection.card
        self._print("Name", card.name)
        self._print("Description", card.description)
        if card.provider is not None:
            self._print("Provider", " ".join(filter(None, (card.provider.organization, card.provider.url))))
        self._print("Version", card.version)
        self._print("Card", connection.url or connection.reference)
        self._print("Documentation", card.documentation_url or "")
        self._interfaces(connection)
        self._print("Capabilities", _capabilities(card))
        for extension in card.capabilities.extensions or ():
            self._print("Extension", f"{extension.uri}{' (required)' if extension.required else ''}")
        self._print("Security", requirements_in_words(card))
        self._print("Input modes", ", ".join(card.default_input_modes))
        self._print("Output modes", ", ".join(card.default_output_modes))
        for skill in card.skills:
            self._skill(skill)

    def _print(self, label: str, text: str) -> None:
        if text:
            self._out.field_or_block(label, text)

    def _interfaces(self, connection: Connection) -> None:
        used = connection.choice
        for option in options(connection.card):
            interface = option.interface
            note = f"not supported: {option.reason}" if not option.usable else "supported"
            if used is not None and interface == used.interface:
                note = f"in use: {used.reason}"
            protocol = f"{interface.protocol_binding or '?'} {interface.protocol_version or '?'}"
            self._print("Interface", f"{interface.url} {protocol} ({note})")

    def _skill(self, skill: AgentSkill) -> None:
        self._print("Skill", f"{skill.id}: {skill.name}")
        self._print("Skill description", skill.description)
        if self._verbose:
            self._print("Skill tags", ", ".join(skill.tags))
            self._print("Skill input modes", ", ".join(skill.input_modes or ()))
            self._print("Skill output modes", ", ".join(skill.output_modes or ()))
        for example in skill.examples or ():
            self._print("Example", example)


def _capabilities(card: AgentCard) -> str:
    declared = (
        ("streaming", card.capabilities.streaming),
        ("push notifications", card.capabilities.push_notifications),
        ("extended card", card.capabilities.extended_agent_card),
    )
    return ", ".join(name for name, given in declared if given) or "none"


async def _verify(current: Run, connection: Connection, keys: KeySet | None) -> tuple[SignatureResult, ...]:
    """Verify the signatures of a card with the given keys and, with `--fetch-keys`, fetched keys; print the results."""
    if current.invocation.given.fetch_keys:
        keys = (keys or KeySet()) | await fetch_keys(current.session, connection)
    for note in keys.notes if keys else ():
        current.out.warn(note)
    verdicts = await verify_card(connection, keys)
    for verdict in verdicts:
        if current.out.json:
            current.out.json_to_stderr(_verdict_json(verdict))
        else:
            _print_verdict(current.out, verdict, verbose=current.invocation.verbose)
    if not verdicts and not current.out.json:
        current.out.field("Signatures", "none")
    return verdicts


def _check_verdicts(verdicts: Sequence[SignatureResult], *, has_keys: bool) -> None:
    """Raise `FaultError` unless a signature is valid; `has_keys` is whether keys were given or fetched."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if not outcomes:
        raise _invalid("The card is not signed.", "Leave out --verify, or ask the owner of the agent to sign the card.")
    if SignatureOutcome.VALID in outcomes:
        return
    if outcomes == {SignatureOutcome.NO_KEY} and not has_keys:
        raise usage("The signatures cannot be verified without keys.", _KEYS_HINT)
    first = verdicts[0]
    seen = f"No signature of the card is valid. The first: {first.outcome.value}, {first.reason}"
    raise _invalid(seen, _KEYS_HINT if outcomes == {SignatureOutcome.NO_KEY} else "")


def _print_verdict(out: Output, verdict: SignatureResult, *, verbose: bool) -> None:
    out.field("Signature", f"{verdict.outcome.value} {verdict.pointer}: {verdict.reason}")
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
