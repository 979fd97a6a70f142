"""The facts of a card as lines: everything except the skills, each finding below the row to which it applies."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from inspector.capture.secret_locations import mask_url
from inspector.findings.finding import Severity
from inspector.findings.signatures.verify import SignatureOutcome, SignatureResult
from inspector.lazy_dataclass import dataclass
from inspector.protocol.model import Json
from inspector.protocol.pointer import at as value_at
from inspector.protocol.pointer import pointer
from inspector.protocol.security import read_scheme, refused_flows, requirements_in_words
from inspector.protocol.selection import Option, options
from inspector.session.authentication import Authentication
from inspector.session.card.observed import (
    CapabilityResult,
    ObservedBehaviour,
    calls_in_words,
    compare_capabilities,
    extension_statuses,
)
from inspector.session.connection import Connection
from inspector.text.sanitise import clean, clean_line
from inspector.tui.keys import key_of
from inspector.tui.render.card_lines import (
    LABEL,
    EnterCredentials,
    FindingsByMember,
    More,
    Verify,
    Writer,
)
from inspector.tui.render.card_words import provider_in_words, scheme_details, shown_url
from inspector.tui.render.finding_lines import verdict_in_words
from inspector.tui.render.json_nodes import write
from inspector.tui.render.login_lines import login_in_words
from inspector.tui.render.skills import FEW
from inspector.tui.render.text_lines import column_width, padded

_CAPABILITY = 22
_DECLARED = 14
"""The least width of the names of capabilities and extensions, and the width of the words after them."""
_DESCRIPTION_ROWS = 8
"""The lines of the description that are shown before the rest is unfolded."""
_GAP = 3
"""The cells between two columns."""
_LONGEST_VALUE = 12
"""The cells of an invalid value beside its capability; the finding below quotes it."""
_LONGEST_NAME = 60
"""The most characters of the name of an extension."""
_MOST_ROWS = 40
"""The most interfaces, schemes or extensions that are listed."""


@dataclass(frozen=True, slots=True)
class Signed:
    """The verdicts on the signatures of a card, and notes about the keys."""

    verdicts: Sequence[SignatureResult] = ()
    notes: Sequence[str] = ()


class CardFacts:
    """Writes a card without its skills, each finding below the row to which it applies."""

    def __init__(
        self,
        connection: Connection,
        observed: ObservedBehaviour,
        signed: Signed,
        writer: Writer,
        authentication: Authentication,
        *,
        whole: bool,
    ) -> None:
        self._connection = connection
        self._auth = authentication
        self._observed = observed
        self._signed = signed
        self._card = connection.card
        self._findings = FindingsByMember(connection.findings)
        self._write = writer
        self._whole = whole
        self._glyphs = writer.glyphs

    def write_facts(self) -> None:
        """Write everything except the skills."""
        self._identity()
        self._interfaces()
        self._authentication()
        self._capabilities()
        self._extensions()
        self._modes()
        self._addresses()
        self._signatures()
        self._origin()
        self._findings.take("skills")  # below the heading of the skills
        self._write.findings(self._findings.rest(), "Other findings")

    def write_heading(self, *, searching: bool, found: int, apart: bool) -> None:
        """Write the heading of the skills, and the findings about all of them."""
        if searching or not apart or not self._card.skills:  # the title of a pane of their own is the heading
            self._heading(searching=searching, found=found)
        self._take("skills")

    def _take(self, *members: str) -> None:
        self._write.findings(self._findings.take(*members))

    def _identity(self) -> None:
        card, write = self._card, self._write
        version = f"  {clean(card.version, limit=30)}" if card.version else ""
        provider = provider_in_words(card)
        result, style = verdict_in_words(self._connection.findings, self._glyphs)
        name = clean(card.name, limit=120) or "(no name)"
        room = write.width - cell_len(name) - cell_len(result) - 3
        about = version + provider if cell_len(version + provider) <= room else version
        gap = " " * max(3, write.width - cell_len(name + about + result))
        write.add((name, "card--title"), (about, "card--muted"), (gap, "card--text"), (result, style))
        if about != version + provider:
            write.text("", provider.strip(), "card--muted", indent=0)
        self._take("name", "version", "provider")
        if card.description:
            write.blank()
            self._description(card.description)
        self._take("description")
        write.blank()

    def _description(self, text: str) -> None:
        """Write the description, cut if it is long."""
        write, first = self._write, len(self._write.lines)
        write.markdown(text, at="/description")
        more = len(write.lines) - first - _DESCRIPTION_ROWS
        if more <= 1:
            return
        if not self._whole:
            del write.lines[first + _DESCRIPTION_ROWS :]
        key = key_of("open")
        hint = f"press {key} to show less" if self._whole else f"… {more} more lines, press {key} to show them"
        write.add((hint, "card--label"), act=More(), pointer="/description")

    def _interfaces(self) -> None:
        judged = options(self._card)
        if not judged:
            self._write.text("Interfaces", "none declared", "card--bad")
        rows = [self._interface(number, option) for number, option in enumerate(judged[:_MOST_ROWS])]
        if _table_width(rows) > self._write.width:
            rows = [(declared, address, reason.removesuffix(" (preferred)")) for declared, address, reason in rows]
        widths = [max((cell_len(row[column]) for row in rows), default=0) for column in (0, 1)]
        if _table_width(rows) > self._write.width:
            widths[1] = 0  # the addresses are too long for a column
        for number, row in enumerate(rows):
            self._write_interface(number, judged[number], row, widths)
        self._more("interfaces", len(judged))
        self._take("supportedInterfaces", "url", "preferredTransport", "protocolVersion")
        self._take("additionalInterfaces", *(f"additionalInterfaces/{number}" for number in range(len(judged))))

    def _interface(self, number: int, option: Option) -> tuple[str, str, str]:
        """Return protocol version and binding, the address, and whether the interface is used."""
        interface, choice = option.interface, self._connection.choice
        declared = f"{interface.protocol_version or '?'} · {interface.protocol_binding or '?'}"
        address = shown_url(interface.url) + (f"   tenant {interface.tenant}" if interface.tenant else "")
        if choice is not None and interface is choice.interface:
            version = choice.dialect.version
            as_declared = interface.protocol_version.startswith(version)
            reason = "in use" if as_declared else f"in use as {version}"
            is_preferred = as_declared and number == 0 and not choice.undeclared
            reason += f" ({'preferred' if is_preferred else choice.reason})"
        else:
            reason = "supported" if option.usable else f"not supported: {option.reason}"
        return clean(declared, limit=40), clean(address, limit=240), clean(reason, limit=180)

    def _write_interface(self, number: int, option: Option, row: tuple[str, str, str], widths: Sequence[int]) -> None:
        choice = self._connection.choice
        used = choice is not None and option.interface is choice.interface
        style = "card--good" if used else "card--text" if option.usable else "card--muted"
        sign = self._glyphs.light if used else self._glyphs.quiet if option.usable else self._glyphs.cross
        declared, address, reason = row
        self._write.row(
            "Interfaces" if number == 0 else "",
            (f"{sign} {padded(declared, widths[0])}   ", style),
            (f"{padded(address, widths[1])}   ", style),
            (reason, "card--good" if used else "card--muted" if option.usable else "card--warning"),
            at=f"/supportedInterfaces/{number}",
        )
        self._take(f"supportedInterfaces/{number}")

    def _more(self, what: str, count: int) -> None:
        if count > _MOST_ROWS:
            self._write.text("", f"and {count - _MOST_ROWS:,} more {what}", "card--muted")

    def _authentication(self) -> None:
        required = self._auth.alternatives(self._card)
        at = "/securityRequirements"
        if not required:
            self._write.text("Authentication", requirements_in_words(self._card), at=at)
        width = column_width([alternative.words for alternative in required])
        for number, alternative in enumerate(required[:_MOST_ROWS]):
            self._write.alternative("Authentication" if number == 0 else "", alternative, at=at, width=width)
        self._more("alternatives", len(required))
        schemes = self._card.security_schemes or {}
        for name, scheme in list(schemes.items())[:_MOST_ROWS]:
            self._scheme(name, scheme)
        self._more("schemes", len(schemes))
        for sent in self._auth.sent:
            self._write.text("", f"sent: {sent}", "card--good", act=EnterCredentials())
        if self._auth.token is not None:
            problem = self._auth.not_renewed
            text = login_in_words(self._auth.token, time.time(), problem)
            self._write.text("", text, "card--warning" if problem else "card--good", act=EnterCredentials())
        if required or schemes or self._auth.sent:
            wanted = "change credentials" if self._auth.sent else "log in, or enter a secret"
            hint = f"{wanted} ({key_of('credentials')})"
            self._write.text("", f"{self._glyphs.folded} {hint}", "card--example", act=EnterCredentials())
        self._take("securityRequirements", "securitySchemes", "security", "authentication")
        self._take(*(f"{member}/{n}" for member in ("securityRequirements", "security") for n in range(_MOST_ROWS)))

    def _scheme(self, name: str, scheme: Mapping[str, Json]) -> None:
        read, place = read_scheme(name, scheme), "/securitySchemes" + pointer(name)
        # A card for two versions has the same details in the members of both.
        details = list(dict.fromkeys(scheme_details(scheme)))
        descriptions = "".join(f". {text}" for member, text in details if not member)
        self._write.text("", f"{clean(name, limit=60)}: {read.in_words()}{descriptions}", "card--muted", at=place)
        width = column_width(member for member, _ in details)
        for member, url in details:
            if member:
                self._write.text("", f"{padded(member, width)}  {url}", "card--muted", indent=LABEL + 2, at=place)
        for refused in refused_flows(read):
            self._write.text("", f"{self._glyphs.cross} {refused}", "card--warning", at=place)

    @property
    def _name_width(self) -> int:
        """Return the width of the names of capabilities and extensions, so that their columns are aligned."""
        return max(_CAPABILITY, column_width(self._extension_names()) + _GAP)

    def _extension_names(self) -> list[str]:
        statuses = extension_statuses(self._card, self._observed)[:_MOST_ROWS]
        return [clean(status.name or status.uri, limit=_LONGEST_NAME) for status in statuses]

    def _capabilities(self) -> None:
        width = self._name_width
        capabilities = compare_capabilities(self._card, self._observed)
        declarations = self._declarations(capabilities)
        declared_width = max(_DECLARED, column_width(text for text, _ in declarations) + _GAP)
        for number, (capability, (declared, declared_style)) in enumerate(zip(capabilities, declarations, strict=True)):
            confirmed = capability.declared and capability.observed
            sign = self._glyphs.check if confirmed else self._glyphs.quiet
            sign = self._glyphs.severities[Severity.WARNING] if capability.is_uncertain else sign
            sign = self._glyphs.cross if capability.contradicts else sign
            style = "card--text" if capability.declared else "card--muted"
            is_doubtful = capability.contradicts or capability.is_uncertain
            seen_style = "card--warning" if is_doubtful else "card--text" if capability.observed else "card--label"
            self._write.row(
                "Capabilities" if number == 0 else "",
                (f"{sign} {capability.name:<{width}}", style),
                (padded(declared, declared_width), declared_style),
                (capability.observed or "not tried yet", seen_style),
                at="/capabilities",
            )
        self._take("capabilities", "supportsAuthenticatedExtendedCard")
        calls = calls_in_words(self._observed)
        if calls:
            self._write.text("Observed calls", calls, "card--muted")

    def _declarations(self, capabilities: Sequence[CapabilityResult]) -> list[tuple[str, str]]:
        """Return the declaration of each capability in words, with its style; a value of the wrong type is invalid."""
        findings = self._findings.peek("capabilities") or self._findings.peek("supportsAuthenticatedExtendedCard")
        served = value_at(self._connection.found.value, "/capabilities") if findings else None
        words = []
        for capability in capabilities:
            value = value_at(served, f"/{capability.member}")
            if capability.declared is not None:
                words.append(("yes" if capability.declared else "no", "card--muted"))
            elif value is None:
                words.append(("not declared", "card--muted"))
            else:
                words.append((f"invalid: {clean_line(write(value), _LONGEST_VALUE)}", "card--bad"))
        return words

    def _extensions(self) -> None:
        statuses = extension_statuses(self._card, self._observed)
        width = self._name_width
        for number, (status, name) in enumerate(zip(statuses, self._extension_names(), strict=False)):
            sign = self._glyphs.check if status.activated else self._glyphs.quiet
            self._write.row(
                "Extensions" if number == 0 else "",
                (
                    f"{self._glyphs.cross if status.contradicts else sign} {padded(name, width - _GAP)}{' ' * _GAP}",
                    "card--text",
                ),
                (
                    f"{'required' if status.required else 'optional':<{_DECLARED}}",
                    "card--warning" if status.required else "card--muted",
                ),
                (status.in_words, "card--warning" if status.contradicts else "card--muted"),
                (f"   {status.description}" if status.description and not status.name else "", "card--muted"),
                at=f"/capabilities/extensions/{number}" if status.declared else "/capabilities/extensions",
            )
        self._more("extensions", len(statuses))
        self._take("capabilities/extensions")

    def _modes(self) -> None:
        inputs, outputs = self._card.default_input_modes, self._card.default_output_modes
        for label, modes, member in (
            ("Input modes", inputs, "defaultInputModes"),
            ("Output modes", outputs, "defaultOutputModes"),
        ):
            self._write.text(label, ", ".join(modes) or "not declared", at=f"/{member}")
            self._take(member, *(f"{member}/{number}" for number in range(len(modes))))

    def _addresses(self) -> None:
        documentation, icon = self._card.documentation_url, self._card.icon_url
        for label, url, member in (("Documentation", documentation, "documentationUrl"), ("Icon", icon, "iconUrl")):
            if url:
                pieces = ((shown_url(url), "card--text"), ("   not fetched", "card--label"))
                self._write.row(label, *pieces, at=f"/{member}")
            self._take(member)

    def _signatures(self) -> None:
        count = len(self._card.signatures or ())
        if not count:
            self._write.text("Signatures", "none", "card--muted")
        elif not self._signed.verdicts:
            self._write.text("Signatures", f"{count}, not verified yet", "card--muted")
        for number, verdict in enumerate(self._signed.verdicts[:_MOST_ROWS]):
            good, unknown = verdict.outcome is SignatureOutcome.VALID, verdict.outcome is SignatureOutcome.NO_KEY
            style = "card--good" if good else "card--muted" if unknown else "card--bad"
            sign = self._glyphs.check if good else self._glyphs.quiet if unknown else self._glyphs.cross
            key = " ".join(filter(None, (clean(verdict.algorithm, limit=20), clean(verdict.kid, limit=60))))
            self._write.row(
                "Signatures" if number == 0 else "",
                (f"{sign} {verdict.outcome.value:<9}", style),
                (f"{key}   " if key else "", "card--text"),
                (verdict.reason, "card--muted"),
                at=verdict.pointer,
            )
            self._take(f"signatures/{number}")
        self._more("signatures", len(self._signed.verdicts))
        for note in self._signed.notes[:_MOST_ROWS]:
            self._write.text("", note, "card--warning")
        if any(verdict.jku and verdict.outcome is SignatureOutcome.NO_KEY for verdict in self._signed.verdicts):
            hint = f"{self._glyphs.folded} fetch the keys, from the origin of the card only, and verify"
            self._write.text("", hint, "card--example", act=Verify())
        self._take("signatures", *(f"signatures/{number}" for number in range(count)))

    def _origin(self) -> None:
        connection = self._connection
        facts = [f"A2A {connection.found.dialect.version} card"]
        facts += [f"attempt {len(connection.attempts)}"] if len(connection.attempts) > 1 else []
        place = mask_url(connection.url) or connection.reference
        facts += [connection.elsewhere] if connection.elsewhere else []
        self._write.text("Card URL", f"{place} ({', '.join(facts)})", "card--muted")

    def _heading(self, *, searching: bool, found: int) -> None:
        count = len(self._card.skills)
        if not count:
            self._write.text("Skills", "none declared", "card--muted", at="/skills")
            return
        number = f"   {found:,} of {count:,}" if searching else f"   {count:,}"
        names = [("filter", "find")]
        names += [("open", "unfold")] if count > FEW else []
        names += [("write", "try the example")] if any(skill.examples for skill in self._card.skills) else []
        keys = "".join(f"   {key_of(command)} {name}" for command, name in names)
        self._write.add(("Skills", "card--heading"), (number, "card--text"), (keys, "card--label"), pointer="/skills")
        if searching and not found:
            hint = f"No match. Press {key_of('back')} to show the whole card."
            self._write.text("", hint, "card--muted", indent=0)


def _table_width(rows: Sequence[tuple[str, str, str]]) -> int:
    """Return the width of the table of interfaces: the columns, a sign and the gaps."""
    columns = (max((cell_len(row[column]) for row in rows), default=0) for column in range(3))
    return LABEL + 2 + sum(columns) + 2 * _GAP
