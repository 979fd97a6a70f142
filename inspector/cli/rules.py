"""The command `rules`: list the rules, each with its requirement and its remedy."""

from __future__ import annotations

import json
from collections.abc import Iterator

from inspector.cli.arguments import Invocation
from inspector.cli.errors import OK, usage
from inspector.cli.output import Output
from inspector.cli.styles import severity
from inspector.findings.rule_set import EVERY, Rule
from inspector.findings.rules import RULES
from inspector.findings.spec_coverage import REQUIREMENTS
from inspector.protocol.model import Json

_FAMILIES = {
    "CARD": "Agent card",
    "CATALOG": "AI Catalog",
    "STREAM": "Streams and tasks",
    "DATA": "Objects in responses and events",
    "ERROR": "Errors",
    "RESULT": "Responses compared with requests",
    "MANDATE": "Mandates of payments (AP2), and passports",
    "RPC": "JSON-RPC",
    "HTTP": "HTTP+JSON",
    "GRPC": "gRPC",
    "AUTH": "Logins, and responses that require credentials",
    "PUSH": "Push notifications",
    "CLIENT": "Bytes that break clients in use",
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
"""Maps the members of a rule in JSON to its attributes."""


def rules(invocation: Invocation, out: Output) -> int:
    """List all rules, or those with the given ids or of the given families."""
    wanted = [name.upper() for name in invocation.given.ids]
    known = RULES.keys() | {_family(rule) for rule in RULES}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise usage(
            f"No rule matches {', '.join(unknown)}.", "Enter rule ids or families (CARD), or nothing to list all rules."
        )
    chosen = [rule for rule in RULES.values() if not wanted or {rule.id, _family(rule.id)} & set(wanted)]
    match invocation.given.output:
        case "json":
            out.document([_as_json(rule) for rule in chosen])
        case "markdown":
            out.write("\n".join([*_markdown(chosen), *(() if wanted else _requirements())]))
        case _:
            for rule in chosen:
                out.field(rule.id, severity(rule.severity.value), f": {rule.title}")
                out.field("  Requirement", f"{rule.section}: {rule.requirement}")
                out.field("  Remedy", rule.remedy)
    return OK


def _family(rule: str) -> str:
    return rule.partition("-")[0]


def _as_json(rule: Rule) -> Json:
    return {member: getattr(rule, name) for member, name in _MEMBERS.items()}


def _markdown(chosen: list[Rule]) -> Iterator[str]:
    yield "# Rules\n"
    yield (
        f"The {len(chosen)} rules that findings refer to. `a2a-inspect rules -o markdown` prints this page.\n\n"
        "- **error**: a MUST of the specification is violated.\n"
        "- **warning**: a SHOULD is violated, or clients are known to fail.\n"
        "- **hint**: information; a change may not be necessary.\n"
    )
    yield (
        "Each rule has an example that violates it. Its form depends on the rule:\n\n"
        "- agent card: a merge patch (RFC 7386) on a valid card\n"
        "- response headers of the card: a merge patch on valid headers\n"
        "- bytes of the card: an encoding and a text\n"
        "- objects: one event\n"
        "- errors: one JSON-RPC error\n"
        "- streams, responses and transports: the response to a call, with its events or its result\n"
        "- logins: a step with its answer, and what the login knows\n"
        "- responses that require credentials: the response to a call, with its status and its headers\n"
        "- push notifications: a registration and a delivery to it\n"
    )
    yield (
        "[Requirements of the specification](#requirements-of-the-specification) lists each requirement with the\n"
        "rules that check it, or with the reason why no rule can check it.\n"
    )
    for family, title in _FAMILIES.items():
        members = [rule for rule in chosen if rule.id.startswith(f"{family}-")]
        if members:
            yield f"## {title}\n"
        for rule in sorted(members, key=lambda rule: rule.id):
            yield from _entry(rule)


def _entry(rule: Rule) -> Iterator[str]:
    yield f"### {rule.id} {rule.title}\n"
    versions = "every protocol version" if set(rule.versions) == set(EVERY) else ", ".join(sorted(rule.versions))
    yield f"**{rule.severity.value}**, {versions}. Requirement ({rule.section}): {rule.requirement}\n"
    yield f"Remedy: {rule.remedy}\n"
    if rule.failing is not None:
        text = json.dumps(rule.failing, ensure_ascii=True)
        yield f"    {text if len(text) <= _LONGEST_EXAMPLE else text[:60] + ' ...'}\n"


def _requirements() -> Iterator[str]:
    yield "## Requirements of the specification\n"
    yield (
        "This table paraphrases each MUST, MUST NOT, SHALL and REQUIRED in sections 3, 4, 9, 10 and 11 of A2A 1.0,\n"
        "and names the rules that check it.\n"
    )
    yield "| Section | Requirement | Rules | Note |"
    yield "|---|---|---|---|"
    for requirement in REQUIREMENTS:
        rules = ", ".join(f"[{rule}](#{_anchor(RULES[rule])})" for rule in requirement.rules)
        yield f"| {requirement.section} | {requirement.text} | {rules} | {requirement.note} |"
    yield ""


def _anchor(rule: Rule) -> str:
    """Return the anchor that renderers of Markdown derive from the heading of a rule."""
    letters = (letter for letter in f"{rule.id} {rule.title}".lower() if letter.isalnum() or letter in " -_")
    return "".join(letters).replace(" ", "-")
