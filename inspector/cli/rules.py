"""`rules`: list the rules, each with its requirement and its remedy."""

from __future__ import annotations

import json
from collections.abc import Iterator

from inspector.cli.arguments import Invocation
from inspector.cli.errors import OK, usage
from inspector.cli.output import Output
from inspector.findings.rule_set import EVERY, Rule
from inspector.findings.rules import RULES
from inspector.findings.spec_coverage import REQUIREMENTS
from inspector.protocol.model import Json

_FAMILIES = {
    "CARD": "The agent card",
    "STREAM": "Streams and tasks",
    "DATA": "Objects in answers and events",
    "ERROR": "Errors",
    "RESULT": "Answers to what was asked",
    "RPC": "JSON-RPC",
    "HTTP": "HTTP+JSON",
    "GRPC": "gRPC",
    "PUSH": "Push notifications",
}
_LONGEST_EXAMPLE = 500
_MEMBERS = {
    "id": "id",
    "severity": "severity",
    "title": "title",
    "section": "section",
    "requirement": "requirement",
    "remedy": "remedy",
    "protocolVersions": "versions",
    "passing": "passing",
    "failing": "failing",
}
"""The attribute of a rule behind each member of its JSON."""


def rules(invocation: Invocation, out: Output) -> int:
    """List all rules, or those with the given ids or of the given families."""
    wanted = [name.upper() for name in invocation.given.ids]
    chosen = [rule for rule in RULES.values() if not wanted or {rule.id, rule.id.partition("-")[0]} & set(wanted)]
    if not chosen:
        raise usage(f"There is no rule {', '.join(wanted)}.", "Without a name all of them are listed.")
    match invocation.given.output:
        case "json":
            out.document([_as_json(rule) for rule in chosen])
        case "markdown":
            out.write("\n".join([*_markdown(chosen), *(() if wanted else _requirements())]))
        case _:
            for rule in chosen:
                out.field(rule.id, f"{rule.severity.value}: {rule.title}")
                out.field("  Requirement", f"{rule.section}: {rule.requirement}")
                out.field("  Remedy", rule.remedy)
    return OK


def _as_json(rule: Rule) -> Json:
    return {member: getattr(rule, name) for member, name in _MEMBERS.items()}


def _markdown(chosen: list[Rule]) -> Iterator[str]:
    yield "# Rules\n"
    yield (
        f"The {len(chosen)} rules that findings come from; `a2a-inspect rules -o markdown` prints this page. An\n"
        "**error** breaks a MUST, a **warning** a SHOULD or what people are known to suffer from, a **hint** is worth\n"
        "knowing.\n"
    )
    yield (
        "The example of a rule about cards is a merge patch (RFC 7386) on a sound card; of a rule about serving, one\n"
        "on the headers; of a rule about bytes, an encoding and a text. That of a rule about objects is one event, of\n"
        "a rule about errors an error of JSON-RPC, of a rule about streams, answers or a transport how an agent\n"
        "answered a call: the events of a stream, or the result, and what else matters.\n"
    )
    yield (
        "[Requirements of the specification](#requirements-of-the-specification) lists each requirement with the\n"
        "rules that check it, and the reason if no rule can.\n"
    )
    for family, title in _FAMILIES.items():
        members = [rule for rule in chosen if rule.id.startswith(f"{family}-")]
        if members:
            yield f"## {title}\n"
        for rule in sorted(members, key=lambda one: one.id):
            yield from _entry(rule)


def _entry(rule: Rule) -> Iterator[str]:
    yield f"### {rule.id} {rule.title}\n"
    held = "every protocol version" if set(rule.versions) == set(EVERY) else ", ".join(sorted(rule.versions))
    yield f"**{rule.severity.value}**, {held}. Requirement ({rule.section}): {rule.requirement}\n"
    yield f"{rule.remedy}\n"
    if rule.failing is not None:
        text = json.dumps(rule.failing, ensure_ascii=True)
        yield f"    {text if len(text) <= _LONGEST_EXAMPLE else text[:60] + ' ...'}\n"


def _requirements() -> Iterator[str]:
    yield "## Requirements of the specification\n"
    yield (
        "Each MUST, MUST NOT, SHALL and REQUIRED of sections 3, 4, 9, 10 and 11 of A2A 1.0, paraphrased, and the\n"
        "rules that check it.\n"
    )
    yield "| Section | Requirement | Rules | Note |"
    yield "|---|---|---|---|"
    for one in REQUIREMENTS:
        rules = ", ".join(f"[{rule}](#{_anchor(RULES[rule])})" for rule in one.rules)
        yield f"| {one.section} | {one.text} | {rules} | {one.note} |"
    yield ""


def _anchor(rule: Rule) -> str:
    """Return the anchor that renderers of Markdown derive from the heading of a rule."""
    kept = (letter for letter in f"{rule.id} {rule.title}".lower() if letter.isalnum() or letter in " -_")
    return "".join(kept).replace(" ", "-")
