"""`card get`: print an agent card, its findings and its signatures."""

from __future__ import annotations

from dataclasses import replace

from inspector.cli import lazy_loading
from inspector.cli.output import Output
from inspector.cli.run_command import command
from inspector.cli.running_command import RunningCommand
from inspector.protocol.card import AgentCard, AgentSkill
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.operations import Operation
from inspector.protocol.security import refused_flows, requirements_in_words, security_schemes
from inspector.protocol.selection import options
from inspector.session.authentication import Authentication, is_accepted
from inspector.session.connection import Connection


@command
async def get(current: RunningCommand) -> None:
    """Print the card of an agent."""
    given, out = current.invocation.given, current.out
    verify = bool(given.verify or given.require_signature or given.keys or given.fetch_keys)
    signatures = lazy_loading.card_signatures(current.invocation, out) if verify else None
    connection = await current.connect()
    if given.extended:
        connection = await _extended(current, connection)
    if out.json:
        out.document(parse(connection.found.raw))
    else:
        session = current.session
        _CardPrinter(out, session.credentials.authentication, verbose=current.invocation.verbose).print(connection)
        if not given.validate:
            out.field("Findings", "not checked")
        if not verify and connection.card.signatures:
            out.field("Signatures", f"{len(connection.card.signatures)}, not verified")
    if given.validate:
        lazy_loading.print_card_findings(out, connection.findings)
    if signatures is not None:
        await signatures.verify(current.session, connection)
    if given.validate:
        lazy_loading.require_no_error(connection.findings)
    if signatures is not None:
        signatures.require_valid()


async def _extended(current: RunningCommand, public: Connection) -> Connection:
    """Return the connection with the extended card instead of the public card (A2A 1.0 section 3.1.11)."""
    current.check_interface()
    current.allow(Operation.EXTENDED_CARD)
    _require_scheme(current, public)
    hint = "Leave out --extended to print the public card."
    answer = await current.ask(current.session.extended_card(), AgentCard, unsupported_hint=hint)
    choice = current.session.choice
    value = choice.dialect.encode_card(answer)
    found = replace(public.found, card=answer, dialect=choice.dialect, raw=dump(value))
    findings = current.session.journal.checker.check_card(value, choice.dialect.version)
    return replace(public, url=choice.interface.url, found=found, findings=findings)


def _require_scheme(current: RunningCommand, public: Connection) -> None:
    """Raise `FaultError` if the public card declares no scheme for the credentials (a2a-cli 0.2 section 12.4)."""
    options, session = current.invocation.options, current.session
    given = options.bearer or options.basic or options.api_key
    if given and not is_accepted(public.card, session.credentials.current, session.agent_url):
        schemes = ", ".join(security_schemes(public.card)) or "none"
        seen = f"The credentials are not sent: the card declares no security scheme for them (declared: {schemes})."
        hint = "Use credentials of a scheme on the card, or leave them out."
        raise FaultError(Fault(Whose.YOURS, FaultCode.AUTH_FAILED, seen, hint))


class _CardPrinter:
    """Prints a card as fields."""

    def __init__(self, out: Output, authentication: Authentication, *, verbose: bool) -> None:
        self._out = out
        self._authentication = authentication
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
            notes = ", ".join(filter(None, (_extension_name(extension.uri), "required" if extension.required else "")))
            self._print("Extension", f"{extension.uri}{f' ({notes})' if notes else ''}")
        self._security(card)
        self._print("Input modes", ", ".join(card.default_input_modes))
        self._print("Output modes", ", ".join(card.default_output_modes))
        for skill in card.skills:
            self._skill(card, skill)

    def _print(self, label: str, text: str) -> None:
        if text:
            self._out.field_or_block(label, text)

    def _interfaces(self, connection: Connection) -> None:
        used = connection.choice
        for option in options(connection.card):
            interface = option.interface
            note = f"not supported: {option.reason}" if not option.usable else "supported"
            if option.dialect is not None and option.outdated:
                note = f"supported with --a2a-version {option.dialect.version}"
            if used is not None and interface == used.interface:
                note = f"in use: {used.reason}"
            protocol = f"{interface.protocol_binding or '?'} {interface.protocol_version or '?'}"
            self._print("Interface", f"{interface.url} {protocol} ({note})")

    def _security(self, card: AgentCard) -> None:
        """Print what is required, what of it is missing, and the flows that are not used."""
        alternatives = self._authentication.alternatives(card)
        if not alternatives:
            self._print("Security", requirements_in_words(card))
        for alternative in alternatives:
            self._print("Security", f"{alternative.words} ({alternative.result})")
        for name, scheme in security_schemes(card).items():
            for refused in refused_flows(scheme):
                self._print("Security scheme", f"{name}: {refused}")

    def _skill(self, card: AgentCard, skill: AgentSkill) -> None:
        self._print("Skill", ": ".join(filter(None, (skill.id, skill.name))) or "(no name)")
        self._print("Skill description", skill.description)
        for alternative in self._authentication.alternatives(card, skill) if skill.security_requirements else ():
            self._print("Skill security", f"{alternative.words} ({alternative.result})")
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


def _extension_name(uri: str) -> str:
    """Return the name of a known extension with its version, `""` for another."""
    from inspector.protocol.extensions.known import title_of  # noqa: PLC0415 - most cards have no extensions

    return title_of(uri)
