"""Rules about skills, their media types and examples, and extensions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.findings.card.facts import Facts
from inspector.findings.card.valid_examples import skill
from inspector.findings.rule_set import ERROR, HINT, SINCE_0_2, WARNING, RuleSet, Violation
from inspector.findings.url import flaw
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Unreadable
from inspector.protocol.pointer import pointer

RULE_SET = RuleSet[Facts]()

_NAME = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}"
_PARAMETER = r"""\s*;\s*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~/:-]+|"(?:[^"\\]|\\.)*")"""
_MEDIA_TYPE = re.compile(rf"(?:\*/\*|{_NAME}/(?:\*|{_NAME}))(?:{_PARAMETER})*")
_TEXT_TYPES = ("text/", "*/", "application/json", "application/xml", "application/yaml", "application/x-yaml")


@RULE_SET.rule(
    "CARD-100",
    WARNING,
    "An input or output mode is not a media type",
    section="1.0 §4.4.1, RFC 6838 §4.2",
    requirement="Input and output modes are media types.",
    remedy="Write type/subtype, such as text/plain; clients compare it with the media types that they support.",
    failing={"defaultInputModes": ["text"]},
    passing={"defaultInputModes": ["text/plain; charset=utf-8", "image/*"]},
)
def no_media_type(card: Facts) -> Iterator[Violation]:
    for where, mode in card.modes():
        if mode not in card.layout.mode_words and not _MEDIA_TYPE.fullmatch(mode):
            yield Violation(where, f"the mode is {mode[:200]!r}")


@RULE_SET.rule(
    "CARD-101",
    HINT,
    "An input or output mode is listed twice",
    section="1.0 §4.4.1",
    requirement="The modes are a set.",
    remedy="Remove one of the two.",
    failing={"defaultInputModes": ["text/plain", "text/plain"]},
)
def mode_twice(card: Facts) -> Iterator[Violation]:
    known: set[tuple[str, str]] = set()
    for where, mode in card.modes():
        key = (where.rpartition("/")[0], mode.lower())
        if key in known:
            yield Violation(where, f"{mode} is repeated")
        known.add(key)


@RULE_SET.rule(
    "CARD-102",
    ERROR,
    "Two skills have the same id",
    section="1.0 §4.4.5, 0.3 §5.5.4",
    requirement="The id of a skill is unique.",
    remedy="Give each skill a unique id.",
    failing={"skills": [skill(), skill(name="Translate again")]},
)
def same_id(card: Facts) -> Iterator[Violation]:
    first: dict[str, int] = {}
    for number, entry in card.skills:
        name = entry.get("id")
        if isinstance(name, str) and name and first.setdefault(name, number) != number:
            yield Violation(pointer("skills", number, "id"), f"{name!r} is also the id of skill {first[name]}")


@RULE_SET.rule(
    "CARD-103",
    HINT,
    "An example does not match the skill's input modes",
    section="1.0 §4.4.5",
    requirement="Examples are prompts or scenarios that the skill can handle.",
    remedy="Add text/plain to the input modes, or write examples in one of the declared modes.",
    failing={"skills": [skill(inputModes=["image/png"])]},
)
def example_without_mode(card: Facts) -> Iterator[Violation]:
    defaults = card.value.get("defaultInputModes")
    for number, entry in card.skills:
        modes = entry.get("inputModes") or defaults
        texts = [mode for mode in modes if isinstance(mode, str)] if isinstance(modes, list) else []
        examples = entry.get("examples")
        if not texts or not isinstance(examples, list) or any(_is_text_type(mode) for mode in texts):
            continue
        for place, example in enumerate(examples):
            if isinstance(example, str) and example and not _is_structured(example):
                seen = f"the example is a text, the input modes are {', '.join(texts[:5])}"
                yield Violation(pointer("skills", number, "examples", place), seen)


def _is_text_type(mode: str) -> bool:
    name = mode.lower()
    return name == "text" or name.startswith(_TEXT_TYPES) or name.split(";")[0].endswith("+json")


def _is_structured(example: str) -> bool:
    return example.lstrip()[:1] in ("{", "[") and not isinstance(parse(example.encode("utf-8", "replace")), Unreadable)


@RULE_SET.rule(
    "CARD-104",
    HINT,
    "A tag is blank or listed twice",
    section="1.0 §4.4.5",
    requirement="Tags are a set of keywords that describe the skill.",
    remedy="Remove the tag.",
    failing={"skills": [skill(tags=["language", "language"])]},
)
def useless_tag(card: Facts) -> Iterator[Violation]:
    for number, entry in card.skills:
        tags = entry.get("tags")
        known: set[str] = set()
        for place, tag in enumerate(tags if isinstance(tags, list) else ()):
            if isinstance(tag, str):
                if tag in known or not tag.strip():
                    yield Violation(pointer("skills", number, "tags", place), f"the tag is {tag[:200]!r}")
                known.add(tag)


@RULE_SET.rule(
    "CARD-105",
    HINT,
    "An example is blank",
    section="1.0 §4.4.5",
    requirement="Examples are prompts or scenarios that the skill can handle.",
    remedy="Remove the example.",
    failing={"skills": [skill(examples=[""])]},
)
def blank_example(card: Facts) -> Iterator[Violation]:
    for number, entry in card.skills:
        examples = entry.get("examples")
        for place, example in enumerate(examples if isinstance(examples, list) else ()):
            if isinstance(example, str) and not example.strip():
                yield Violation(pointer("skills", number, "examples", place), f"the example is {example[:50]!r}")


_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")


@RULE_SET.rule(
    "CARD-106",
    WARNING,
    "The uri of an extension is not a URI",
    section="1.0 §4.4.4, §4.6.3",
    requirement="uri is the unique URI of the extension.",
    remedy="Set uri to a URI with a version, such as https://example.com/extensions/glossary/v1.",
    versions=SINCE_0_2,
    failing={"capabilities": {"extensions": [{"uri": "glossary"}]}},
)
def no_uri(card: Facts) -> Iterator[Violation]:
    for where, extension in card.extensions:
        uri = extension.get("uri")
        if isinstance(uri, str) and (not _URI.fullmatch(uri) or (uri.lower().startswith("http") and flaw(uri))):
            yield Violation(f"{where}/uri", f"uri is {uri[:200]!r}")


@RULE_SET.rule(
    "CARD-107",
    WARNING,
    "An extension is declared twice",
    section="1.0 §4.4.4",
    requirement="uri is the unique URI of the extension.",
    remedy="Remove one of the two.",
    versions=SINCE_0_2,
    failing={
        "capabilities": {"extensions": [{"uri": "https://example.com/x/v1"}, {"uri": "https://example.com/x/v1"}]}
    },
)
def extension_twice(card: Facts) -> Iterator[Violation]:
    known: set[str] = set()
    for where, extension in card.extensions:
        uri = extension.get("uri")
        if isinstance(uri, str):
            if uri in known:
                yield Violation(f"{where}/uri", f"{uri[:200]} is repeated")
            known.add(uri)
