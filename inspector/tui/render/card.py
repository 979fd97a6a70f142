"""An agent card as lines: identity, findings, interfaces, authentication, capabilities and skills."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from rich.cells import cell_len

from inspector.findings.signatures.verify import SignatureOutcome, SignatureResult
from inspector.protocol.pointer import pointer
from inspector.protocol.security import requirements_in_words, scheme_in_words
from inspector.protocol.selection import Option, options
from inspector.session.card.observed import ObservedBehaviour, calls_in_words, compare_capabilities, extension_in_words
from inspector.session.connection import Connection
from inspector.text.sanitise import clean
from inspector.tui.render.card_lines import Act, CardLine, FindingsByMember, More, Try, Writer
from inspector.tui.render.finding_lines import verdict_in_words
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.skills import FEW, SkillLines
from inspector.tui.render.text_lines import Line

_CAPABILITY = 22
"""The width of the column of capabilities."""
_DESCRIPTION_ROWS = 8
"""The lines of the description that are shown before the rest is unfolded."""
_MOST_ROWS = 40
"""The most interfaces, schemes or extensions that are listed."""


@dataclass(frozen=True, slots=True)
class Signed:
    """The verdicts on the signatures of a card, and notes about the keys."""

    verdicts: Sequence[SignatureResult] = ()
    notes: Sequence[str] = ()


class CardLines:
    """The lines of a card, laid out for a width; a `LineSource`. A search shows only the skills that match."""

    def __init__(self, connection: Connection, observed: ObservedBehaviour, glyphs: Glyphs) -> None:
        self._connection = connection
        self._observed = observed
        self._glyphs = glyphs
        self._head: list[CardLine] = []
        self._width = 0
        self.words = ""
        self.signed = Signed()
        self.whole = False
        """Whether a long description is shown in full."""
        self.skills = SkillLines(connection.card, FindingsByMember(connection.findings), glyphs)

    def __len__(self) -> int:
        return len(self._head) + len(self.skills)

    def layout(self, width: int, keep: int) -> int:
        """Fit the lines to a width; return the line number `keep`, or the last line if there are fewer lines."""
        if width != self._width:
            self._width = width
            self.skills.layout(width)
            self.renew()
        return min(keep, max(0, len(self) - 1))

    def renew(self) -> None:
        """Lay out the lines above the skills again."""
        writer = Writer(self._width, self._glyphs)
        head = _Head(self._connection, self._observed, self.signed, writer, whole=self.whole)
        head.write(searching=bool(self.words), found=self.skills.shown)
        self._head = writer.lines

    def search(self, words: str) -> None:
        """Show the skills with all of these words, or without words the whole card."""
        self.words = words.strip()
        self.skills.search(self.words)
        self.renew()

    def line(self, index: int) -> Line:
        """Return one line."""
        return self.card_line(index).pieces

    def card_line(self, index: int) -> CardLine:
        """Return one line with its action."""
        head = len(self._head)
        return self._head[index] if index < head else self.skills.line(index - head)

    def act(self, index: int) -> Act:
        """Return the action of the enter key on a line."""
        return self.card_line(index).act if 0 <= index < len(self) else None

    def pointer(self, index: int) -> str:
        """Return the place in the served card that a line shows."""
        return self.card_line(index).pointer if 0 <= index < len(self) else ""

    def example(self, index: int) -> str:
        """Return the example message on a line, else the first example of its skill."""
        act = self.act(index)
        if isinstance(act, Try):
            return act.text
        at = index - len(self._head)
        return self.skills.example(self.skills.skill(at)) if 0 <= at < len(self.skills) else ""

    def stops(self) -> list[int]:
        """Return the lines with an action: examples, and folded skills."""
        return [len(self._head) + at for at in self.skills.stops()]

    def skill_lines(self) -> list[int]:
        """Return the lines where skills begin."""
        return [len(self._head) + at for at in self.skills.heads()]

    def toggle(self, skill: int) -> tuple[int, int]:
        """Unfold or fold a skill; return its first line and its last."""
        first, last = self.skills.toggle(skill)
        return len(self._head) + first, len(self._head) + last


class _Head:
    """Writes a card without its skills, each finding below the row to which it applies."""

    def __init__(
        self, connection: Connection, observed: ObservedBehaviour, signed: Signed, writer: Writer, *, whole: bool
    ) -> None:
        self._connection = connection
        self._observed = observed
        self._signed = signed
        self._card = connection.card
        self._findings = FindingsByMember(connection.findings)
        self._write = writer
        self._whole = whole
        self._glyphs = writer.glyphs

    def write(self, *, searching: bool, found: int) -> None:
        if not searching:
            self._identity()
            self._interfaces()
            self._authentication()
            self._capabilities()
            self._extensions()
            self._modes()
            self._addresses()
            self._signatures()
            self._origin()
        heading = self._findings.take("skills")
        if not searching:
            self._write.findings(self._findings.rest(), "Findings")
            self._write.blank()
        self._heading(searching=searching, found=found)
        self._write.findings(heading)

    def _take(self, *members: str) -> None:
        self._write.findings(self._findings.take(*members))

    def _identity(self) -> None:
        card, write = self._card, self._write
        version = f"  {clean(card.version, limit=30)}" if card.version else ""
        provider = f"   by {clean(card.provider.organization, limit=60)}" if card.provider else ""
        if card.provider and card.provider.url:
            provider += f", {clean(shown_url(card.provider.url), limit=80)}"
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
        hint = "press enter to show less" if self._whole else f"… {more} more lines, press enter to show them"
        write.add((hint, "card--label"), act=More(), pointer="/description")

    def _interfaces(self) -> None:
        judged = options(self._card)
        if not judged:
            self._write.text("Interfaces", "none declared", "card--bad")
        for number, option in enumerate(judged[:_MOST_ROWS]):
            self._interface(number, option)
        self._more("interfaces", len(judged))
        self._take("supportedInterfaces", "url", "preferredTransport", "protocolVersion")
        self._take("additionalInterfaces", *(f"additionalInterfaces/{number}" for number in range(len(judged))))

    def _interface(self, number: int, option: Option) -> None:
        interface, choice = option.interface, self._connection.choice
        used = choice is not None and interface is choice.interface
        declared = f"{interface.protocol_version or '?'} · {interface.protocol_binding or '?'}"
        style = "card--good" if used else "card--text" if option.usable else "card--muted"
        sign = self._glyphs.light if used else self._glyphs.quiet if option.usable else self._glyphs.cross
        tenant = f"   tenant {clean(interface.tenant, limit=40)}" if interface.tenant else ""
        if used and choice is not None:
            version = choice.dialect.version
            as_declared = interface.protocol_version.startswith(version)
            reason = "in use" if as_declared else f"in use as {version}"
            reason += f" ({'preferred' if as_declared and number == 0 else choice.reason})"
        else:
            reason = "supported" if option.usable else option.reason
        self._write.row(
            "Interfaces" if number == 0 else "",
            (f"{sign} {clean(declared, limit=40):<16} ", style),
            (clean(shown_url(interface.url), limit=200), style),
            (tenant, "card--text"),
            (f"   {clean(reason, limit=160)}", "card--muted"),
            at=f"/supportedInterfaces/{number}",
        )
        self._take(f"supportedInterfaces/{number}")

    def _more(self, what: str, count: int) -> None:
        if count > _MOST_ROWS:
            self._write.text("", f"and {count - _MOST_ROWS:,} more {what}", "card--muted")

    def _authentication(self) -> None:
        self._write.text("Authentication", requirements_in_words(self._card), at="/securityRequirements")
        schemes = self._card.security_schemes or {}
        for name, scheme in list(schemes.items())[:_MOST_ROWS]:
            # A card for two versions has the same details in the members of both.
            details = "".join(f". {detail}" for detail in dict.fromkeys(_details(scheme)))
            text = f"{clean(name, limit=60)}: {scheme_in_words(scheme)}{details}"
            self._write.text("", text, "card--muted", at="/securitySchemes" + pointer(name))
        self._more("schemes", len(schemes))
        self._take("securityRequirements", "securitySchemes", "security", "authentication")
        self._take(*(f"{member}/{n}" for member in ("securityRequirements", "security") for n in range(_MOST_ROWS)))

    def _capabilities(self) -> None:
        for number, capability in enumerate(compare_capabilities(self._card, self._observed)):
            declared = {True: "yes", False: "no", None: "not declared"}[capability.declared]
            sign = {True: self._glyphs.check, False: self._glyphs.cross, None: self._glyphs.quiet}[capability.declared]
            style = "card--good" if capability.declared else "card--muted"
            seen_style = (
                "card--warning" if capability.contradicts else "card--text" if capability.observed else "card--label"
            )
            self._write.row(
                "Capabilities" if number == 0 else "",
                (f"{sign} {capability.name:<{_CAPABILITY}}", style),
                (f"{declared:<14}", "card--muted"),
                (capability.observed or "not tried yet", seen_style),
                at="/capabilities",
            )
        calls = calls_in_words(self._observed)
        if calls:
            self._write.text("Observed calls", calls, "card--muted")

    def _extensions(self) -> None:
        extensions = self._card.capabilities.extensions or []
        for number, extension in enumerate(extensions[:_MOST_ROWS]):
            seen, odd = extension_in_words(extension.uri, self._observed)
            self._write.row(
                "Extensions" if number == 0 else "",
                (extension.uri, "card--text"),
                ("   required" if extension.required else "", "card--warning"),
                (f"   {seen}" if seen else "", "card--warning" if odd else "card--good"),
                (f"   {extension.description}" if extension.description else "", "card--muted"),
                at=f"/capabilities/extensions/{number}",
            )
        self._more("extensions", len(extensions))
        self._take("capabilities", "supportsAuthenticatedExtendedCard")

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
            self._write.text("", "Press S to fetch the keys, from the origin of the card only.", "card--label")
        self._take("signatures", *(f"signatures/{number}" for number in range(count)))

    def _origin(self) -> None:
        connection = self._connection
        facts = [f"A2A {connection.found.dialect.version} card"]
        facts += [f"attempt {len(connection.tries)}"] if len(connection.tries) > 1 else []
        self._write.text("Source", f"{connection.url or connection.reference} ({', '.join(facts)})", "card--muted")

    def _heading(self, *, searching: bool, found: int) -> None:
        count = len(self._card.skills)
        if not count:
            self._write.text("Skills", "none declared", "card--muted", at="/skills")
            return
        number = f"   {found:,} of {count:,}" if searching else f"   {count:,}"
        keys = "   enter try an example" if count <= FEW else "   / search   enter unfold   t try the first example"
        self._write.add(("SKILLS", "card--heading"), (number, "card--text"), (keys, "card--muted"), pointer="/skills")
        if searching and not found:
            self._write.text("", "No match. Press escape to show the whole card.", "card--muted", indent=0)


def _details(scheme: object) -> Iterator[str]:
    """Yield the description of a security scheme, and its urls for authorization and tokens."""
    waiting = [scheme]
    while waiting:
        members = waiting.pop()
        for name, value in members.items() if isinstance(members, dict) else ():
            if isinstance(value, str) and name == "description":
                yield value
            elif isinstance(value, str) and name.endswith("Url"):
                yield f"{name} {shown_url(value)}"
            elif isinstance(value, dict) and name != "scopes":
                waiting.append(value)


def shown_url(url: str) -> str:
    """Return a url, followed by its host in ASCII (IDNA) if the host has letters that may imitate others."""
    if url.isascii():
        return url
    try:
        host = urlsplit(url).hostname or ""
        return url if host.isascii() else f"{url} (the host is {host.encode('idna').decode('ascii')})"
    except ValueError:
        return f"{url} (invalid host)"
