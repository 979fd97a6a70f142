"""Rules about the bytes of a card, which all JSON readers should read in the same way."""

from __future__ import annotations

import codecs
from dataclasses import field

from inspector.findings.finding import Finding, Severity
from inspector.findings.lenient_json import JsonProblemKind, LenientReader, json_problems, without_problems
from inspector.findings.rule_set import Rule
from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import parse_strictly, type_name
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
        "The card is not valid JSON",
        "1.0 §8.2, RFC 8259",
        "The well-known URL MUST return an AgentCard object.",
        "Correct the JSON at the position in the finding. Check that the server does not return an error page.",
        ("utf-8", '{"name": "Translator",}'),
    ),
    _rule(
        "CARD-007",
        Severity.ERROR,
        "The card is not encoded in UTF-8",
        "RFC 8259 §8.1",
        "JSON exchanged between systems MUST be encoded in UTF-8.",
        "Encode the card in UTF-8.",
        ("utf-16", "{}"),
    ),
    _rule(
        "CARD-008",
        Severity.ERROR,
        "The card starts with a byte order mark",
        "RFC 8259 §8.1",
        "JSON text MUST NOT begin with a byte order mark.",
        "Save the card without the byte order mark; many parsers reject it.",
        ("utf-8-sig", "{}"),
    ),
    _rule(
        "CARD-009",
        Severity.ERROR,
        "A member name is repeated",
        "RFC 8259 §4, RFC 8785 §3.1",
        "Member names in an object SHOULD be unique; in signed JSON they MUST be unique.",
        "Remove one of the members: readers differ in which of them they use.",
        ("utf-8", '{"name": "One", "name": "Two"}'),
    ),
    _rule(
        "CARD-095",
        Severity.ERROR,
        "A number cannot be represented in JSON",
        "RFC 8259 §6",
        "NaN and Infinity are not permitted as numbers.",
        "Remove the member, or set it to a finite number.",
        ("utf-8", '{"x-weight": NaN}'),
    ),
    _rule(
        "CARD-096",
        Severity.ERROR,
        "A string contains a lone surrogate",
        "RFC 8259 §8.2, RFC 8785 §3.2.2.2",
        "Strings consist of Unicode characters; canonicalization MUST fail on a lone surrogate.",
        "Write the complete character; many readers reject the card or replace the surrogate.",
        ("utf-8", '{"name": "\\ud83d"}'),
    ),
    _rule(
        "CARD-097",
        Severity.ERROR,
        "The card is not a JSON object",
        "1.0 §8.2",
        "The well-known URL MUST return an AgentCard object.",
        "Return the card itself, not an array or a string that contains it.",
        ("utf-8", "[]"),
    ),
    _rule(
        "CARD-098",
        Severity.WARNING,
        "The card exceeds the limits of many JSON readers",
        "RFC 8259 §9",
        "An implementation may limit the range of numbers and the depth of nesting.",
        "Use shorter numbers and less nesting.",
        ("utf-8", '{"x-n": ' + "9" * 5000 + "}"),
    ),
    _rule(
        "CARD-099",
        Severity.ERROR,
        "The card is nested in another object",
        "1.0 §8.2, §14.3",
        "The well-known URL MUST return an AgentCard object.",
        "Return the card itself: clients look for its members at the top level.",
        ("utf-8", '{"result": {"name": "Translator", "capabilities": {}, "skills": []}}'),
    ),
)


_RULES_OF_PROBLEMS = {
    JsonProblemKind.REPEATED: "CARD-009",
    JsonProblemKind.NOT_FINITE: "CARD-095",
    JsonProblemKind.LONE_SURROGATE: "CARD-096",
}
_SEVERITIES = {rule.id: rule.severity for rule in RULES}


@dataclass(slots=True)
class Document:
    """The JSON value of a card without values that are not strict JSON; `read` is true if the card could be read."""

    value: Json
    read: bool = False
    findings: list[Finding] = field(default_factory=list)

    def add_finding(self, rule: str, where: str, seen: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(rule, _SEVERITIES[rule], where, seen))


def read_document(raw: bytes) -> Document:
    """Read the bytes of a card leniently, and report what strict readers reject or read differently."""
    document = Document(None)
    text = _decode(raw, document)
    strict = parse_strictly(text.encode("utf-8", "replace"))
    reader = LenientReader()
    try:
        value = reader.read(text)
        problems = [*json_problems(value)] if reader.has_problems else []  # a deep value raises RecursionError
        document.value = without_problems(value) if reader.has_problems else value
    except (ValueError, RecursionError):
        document.read = not isinstance(strict, Unreadable)
        document.value = strict if document.read else None
    else:
        document.read = True
        for problem in problems:
            document.add_finding(_RULES_OF_PROBLEMS[problem.kind], problem.pointer, problem.seen)
    if isinstance(strict, Unreadable) and not document.findings:
        document.add_finding("CARD-098" if document.read and not reader.not_strict else "CARD-006", "", strict.why)
    elif document.read and not isinstance(document.value, dict):
        document.add_finding("CARD-097", "", f"expected an object, found {type_name(document.value)}")
    elif isinstance(document.value, dict) and (inside := _member_with_card(document.value)):
        document.add_finding("CARD-099", pointer(inside), f"the card is in the member {inside[:_SHOWN]}")
        document.value = None
    return document


def _member_with_card(value: dict[str, Json]) -> str:
    """Return the name of the member that contains the card, `""` if the value may be the card."""
    if value.keys() & {"skills", "capabilities", "supportedInterfaces", "url"}:
        return ""
    cards = (
        name
        for name, member in value.items()
        if isinstance(member, dict) and {"skills", "capabilities"} <= member.keys()
    )
    return next(cards, "")


def _decode(raw: bytes, document: Document) -> str:
    encoding = next((name for mark, name in _OTHER_MARKS if raw.startswith(mark)), "")
    if not encoding and b"\0" in raw[:2]:
        encoding = "utf-16-be" if raw[:1] == b"\0" else "utf-16-le"
    if encoding:
        document.add_finding("CARD-007", "", f"the encoding is {encoding.upper()}")
        return raw.decode(encoding, "replace")
    if raw.startswith(_BOM):
        document.add_finding("CARD-008", "", "the first bytes are EF BB BF")
        raw = raw[len(_BOM) :]
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        document.add_finding("CARD-007", "", f"byte {error.start:,} is {raw[error.start]:02X}")
        return raw.decode("utf-8", "replace")
