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
from inspector.findings.signatures.verify import Outcome, Verdict
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
"""The most unsigned places that are printed without --verbose."""
_GIVE = "--keys FILE gives them, --fetch-keys fetches those that the signatures name, from the card's own origin."


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
    errors = tuple(one for one in connection.findings if one.severity is Severity.ERROR) if validate else ()
    if errors:
        raise _invalid(f"The card is not valid: {count(errors)}, the first {errors[0].rule} ({errors[0].seen}).")
    if verify:
        _judge_signatures(verdicts, asked=bool(given.keys or given.fetch_keys))


async def _extended(current: Run, public: Connection) -> Connection:
    """Return the connection with the extended card instead of the public one (A2A 1.0 section 3.1.11)."""
    current.check_interface()
    current.allow(Operation.EXTENDED_CARD)
    undone = "Without --extended the public card is shown."
    answer = await current.ask(current.session.extended_card(), AgentCard, undone=undone)
    choice = current.session.choice
    value = choice.dialect.encode_card(answer)
    found = replace(public.found, card=answer, dialect=choice.dialect, raw=dump(value))
    findings = check(value, choice.dialect.version)
    return replace(public, url=choice.interface.url, found=found, findings=findings)


def _list_findings(out: Output, findings: tuple[Finding, ...]) -> None:
    for one in findings:
        if out.json:
            out.remark(finding_json(one))
        else:
            out.field("Finding", in_words(one))
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
        self._say("Name", card.name)
        self._say("Description", card.description)
        if card.provider is not None:
            self._say("Provider", " ".join(filter(None, (card.provider.organization, card.provider.url))))
        self._say("Version", card.version)
        self._say("Card", connection.url or connection.reference)
        self._say("Documentation", card.documentation_url or "")
        self._interfaces(connection)
        self._say("Capabilities", _capabilities(card))
        for extension in card.capabilities.extensions or ():
            self._say("Extension", f"{extension.uri}{' (required)' if extension.required else ''}")
        self._say("Security", requirements_in_words(card))
        self._say("Input", ", ".join(card.default_input_modes))
        self._say("Output", ", ".join(card.default_output_modes))
        for skill in card.skills:
            self._skill(skill)

    def _say(self, label: str, text: str) -> None:
        if text:
            self._out.say(label, text)

    def _interfaces(self, connection: Connection) -> None:
        used = connection.choice
        for option in options(connection.card):
            one = option.interface
            note = f"not usable: {option.reason}" if not option.usable else "usable"
            if used is not None and one == used.interface:
                note = f"in use: {used.reason}"
            spoken = f"{one.protocol_binding or '?'} {one.protocol_version or '?'}"
            self._say("Interface", f"{one.url} {spoken} ({note})")

    def _skill(self, skill: AgentSkill) -> None:
        self._say("Skill", f"{skill.id}: {skill.name}")
        self._say("Skill description", skill.description)
        if self._verbose:
            self._say("Skill tags", ", ".join(skill.tags))
            self._say("Skill input", ", ".join(skill.input_modes or ()))
            self._say("Skill output", ", ".join(skill.output_modes or ()))
        for example in skill.examples or ():
            self._say("Example", example)


def _capabilities(card: AgentCard) -> str:
    declared = (
        ("streaming", card.capabilities.streaming),
        ("push notifications", card.capabilities.push_notifications),
        ("extended card", card.capabilities.extended_agent_card),
    )
    return ", ".join(name for name, given in declared if given) or "none declared"


async def _verify(current: Run, connection: Connection, keys: KeySet | None) -> tuple[Verdict, ...]:
    """Verify the signatures of a card, with `--fetch-keys` with fetched keys too, and print the verdicts."""
    if current.invocation.given.fetch_keys:
        keys = (keys or KeySet()) | await fetch_keys(current.session, connection)
    for note in keys.notes if keys else ():
        current.out.warn(note)
    verdicts = await verify_card(connection, keys)
    for verdict in verdicts:
        if current.out.json:
            current.out.remark(_verdict_json(verdict))
        else:
            _print_verdict(current.out, verdict, verbose=current.invocation.verbose)
    if not verdicts and not current.out.json:
        current.out.field("Signatures", "none")
    return verdicts


def _judge_signatures(verdicts: Sequence[Verdict], *, asked: bool) -> None:
    """Raise `FaultError` unless a signature is valid; `asked` is whether keys were given or fetched."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if not outcomes:
        raise _invalid("The card is not signed.", "Whose it is, only its address tells.")
    if Outcome.VALID in outcomes:
        return
    if outcomes == {Outcome.NO_KEY} and not asked:
        raise usage("There are no keys to verify the card's signatures with.", _GIVE)
    first = verdicts[0]
    seen = f"No signature of the card is valid, the first is {first.outcome.value}: {first.reason}"
    raise _invalid(seen, _GIVE if outcomes == {Outcome.NO_KEY} else "")


def _print_verdict(out: Output, verdict: Verdict, *, verbose: bool) -> None:
    out.field("Signature", f"{verdict.outcome.value} {verdict.pointer}: {verdict.reason}")
    places = verdict.uncovered
    if places and verbose:
        out.block("Not signed", "\n".join(places))
    elif places:
        more = f" and {len(places) - _MOST_UNSIGNED:,} more" if len(places) > _MOST_UNSIGNED else ""
        out.field("Not signed", f"{', '.join(places[:_MOST_UNSIGNED])}{more}")


def _verdict_json(verdict: Verdict) -> dict[str, object]:
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
