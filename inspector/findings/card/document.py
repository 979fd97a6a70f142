"""Rules about the bytes of a card: whether all readers can read them as JSON, and read the same."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

from inspector.findings.finding import Finding, Severity
from inspector.findings.lenient_json import Lenient, Oddity, oddities, without_oddities
from inspector.findings.rule_set import Rule
from inspector.protocol.jsonvalue import parse, type_name
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.pointer import pointer

_BOM = codecs.BOM_UTF8
_OTHER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SHOWN = 80


def _rule(
    name: str, severity: Severity, title: str, section: str, requirement: str, remedy: str, failing: tuple[str, str]
) -> Rule:
    return Rule(name, severity, title, section, requirement, remedy, passing=("utf-8", "{}"), failing=failing)


RULES = (
    _rule(
        "CARD-006",
        Severity.ERROR,
        "The card is not JSON",
        "1.0 §8.2, RFC 8259",
        "The resource MUST return an AgentCard object.",
        "Correct it at the place that the finding names; an error page may be in the place of the card.",
        ("utf-8", '{"name": "Translator",}'),
    ),
    _rule(
        "CARD-007",
        Severity.ERROR,
        "The card is not UTF-8",
        "RFC 8259 §8.1",
        "JSON text exchanged between systems MUST be encoded using UTF-8.",
        "Encode it in UTF-8.",
        ("utf-16", "{}"),
    ),
    _rule(
        "CARD-008",
        Severity.ERROR,
        "The card starts with a byte order mark",
        "RFC 8259 §8.1",
        "Implementations MUST NOT add a byte order mark to the beginning of JSON text.",
        "Save it without the mark; many parsers refuse it.",
        ("utf-8-sig", "{}"),
    ),
    _rule(
        "CARD-009",
        Severity.ERROR,
        "A member is there twice",
        "RFC 8259 §4, RFC 8785 §3.1",
        "The names within an object SHOULD be unique; signed JSON MUST NOT have duplicate names.",
        "Take one away: readers differ in which of them they see.",
        ("utf-8", '{"name": "One", "name": "Two"}'),
    ),
    _rule(
        "CARD-095",
        Severity.ERROR,
        "A number that JSON does not have",
        "RFC 8259 §6",
        "Numeric values that cannot be represented, such as Infinity and NaN, are not permitted.",
        "Leave the member out, or write a number.",
        ("utf-8", '{"x-weight": NaN}'),
    ),
    _rule(
        "CARD-096",
        Severity.ERROR,
        "A text has half of a surrogate pair",
        "RFC 8259 §8.2, RFC 8785 §3.2.2.2",
        "Texts are sequences of Unicode characters; half of a pair is none.",
        "Write the whole character; many readers refuse the card or replace the half.",
        ("utf-8", '{"name": "\\ud83d"}'),
    ),
    _rule(
        "CARD-097",
        Severity.ERROR,
        "The card is no object",
        "1.0 §8.2",
        "The resource MUST return an AgentCard object.",
        "Serve the card itself, not a list or a text that holds it.",
        ("utf-8", "[]"),
    ),
    _rule(
        "CARD-098",
        Severity.WARNING,
        "The card goes beyond what many readers take",
        "RFC 8259 §9",
        "An implementation may set limits on the range of numbers and the depth of nesting.",
        "Write shorter numbers and flatter objects.",
        ("utf-8", '{"x-n": ' + "9" * 5000 + "}"),
    ),
    _rule(
        "CARD-099",
        Severity.ERROR,
        "The card is inside of something else",
        "1.0 §8.2, §14.3",
        "The resource MUST return an AgentCard object.",
        "Serve the card itself: clients look for its members at the top.",
        ("utf-8", '{"result": {"name": "Translator", "capabilities": {}, "skills": []}}'),
    ),
)


_ODD = {Oddity.REPEATED: "CARD-009", Oddity.NOT_FINITE: "CARD-095", Oddity.HALF: "CARD-096"}
_SEVERITIES = {rule.id: rule.severity for rule in RULES}


@dataclass(slots=True)
class Document:
    """A card's bytes as JSON, free of what JSON does not allow; `read` says whether they hold any."""

    value: Json
    read: bool = False
    findings: list[Finding] = field(default_factory=list)

    def broken(self, rule: str, where: str, seen: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(rule, _SEVERITIES[rule], where, seen))


def read_document(raw: bytes) -> Document:
    """Read the bytes of a card as leniently as possible, and report what keeps other readers from reading them."""
    document = Document(None)
    text = _decoded(raw, document)
    strict = parse(text.encode("utf-8", "replace"))
    lenient = Lenient()
    try:
        document.value = lenient.read(text)
    except (ValueError, RecursionError):
        document.read = not isinstance(strict, Unreadable)
        document.value = strict if document.read else None
    else:
        document.read = True
        if lenient.odd:
            for odd in oddities(document.value):
                document.broken(_ODD[odd.oddity], odd.pointer, odd.seen)
            document.value = without_oddities(document.value)
    if isinstance(strict, Unreadable) and not document.findings:
        document.broken("CARD-098" if document.read and not lenient.forgiving else "CARD-006", "", strict.why)
    elif document.read and not isinstance(document.value, dict):
        document.broken("CARD-097", "", f"it is {type_name(document.value)}")
    elif isinstance(document.value, dict) and (inside := _wrapper(document.value)):
        document.broken("CARD-099", pointer(inside), f"inside of {inside[:_SHOWN]}")
        document.value = None
    return document


def _wrapper(value: dict[str, Json]) -> str:
    """Return the member that contains the card, `""` if the value itself may be the card."""
    if value.keys() & {"skills", "capabilities", "supportedInterfaces", "url"}:
        return ""
    cards = (name for name, one in value.items() if isinstance(one, dict) and {"skills", "capabilities"} <= one.keys())
    return next(cards, "")


def _decoded(raw: bytes, document: Document) -> str:
    encoding = next((name for mark, name in _OTHER_MARKS if raw.startswith(mark)), "")
    if not encoding and b"\0" in raw[:2]:
        encoding = "utf-16-be" if raw[:1] == b"\0" else "utf-16-le"
    if encoding:
        document.broken("CARD-007", "", encoding.upper())
        return raw.decode(encoding, "replace")
    if raw.startswith(_BOM):
        document.broken("CARD-008", "", "EF BB BF")
        raw = raw[len(_BOM) :]
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        document.broken("CARD-007", "", f"byte {error.start:,} is {raw[error.start]:02X}")
        return raw.decode("utf-8", "replace")
