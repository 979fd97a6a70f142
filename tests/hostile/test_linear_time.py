"""Everything that reads text of an agent needs time proportional to its length, also for texts made to be slow.

Every regular expression of the program is found automatically, so a new one is tested, too.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import inspector
from inspector.capture.redaction import Redactor
from inspector.findings.lenient_json import LenientReader
from inspector.protocol import sse
from inspector.protocol.dialects.double_base64 import looks_double_encoded
from inspector.protocol.extensions import traceability
from inspector.protocol.jsonvalue import parse
from inspector.session.replay.file_content import decode
from inspector.session.replay.saving import clean_name
from inspector.text.safe_json import dump, escape
from inspector.text.sanitise import clean, clean_line, crop

FACTOR = 4
"""The larger text is so many times as long as the smaller text."""
MOST = 2.2 * FACTOR
"""How many times as long the larger text may take. In quadratic time it takes 16 times as long."""
SHARES = 4
"""Into how many tests the patterns are divided for long texts."""
LONG = 250_000
"""The characters of long texts."""
POSSESSIVE_GROUP = r"(?<!\\)\)(?:[*+?]|\{[0-9,]*\})\+|\(\?>"
NOTICED = 0.02
"""Seconds of CPU time; what takes less is too short to measure."""

WORDS = (
    *("a", "A", "0", " ", "\t", "\n", "\\", '"', "'", '\\"', "/", ":", "://", "@", "?", "&", "=", ";", "#", "%", "%41"),
    *(
        "-",
        "_",
        ".",
        "*",
        "**",
        "`",
        "[",
        "](",
        "|",
        "<",
        ">",
        "{",
        "}",
        "$",
        "x",
        "\u0301",
        "\u200d",
        "\U0001f468\u200d",
    ),
    *("a@", "a=", "?token=", "&token=a", "password=", '"password":', '\\"password\\":\\"', '"token" ', "password :"),
    *("http://", "://a@", "a://a@a?a=", "http://h/?token=", "\\u0041", "\\u00", ":\\/\\/", "eyJ", "sk-", "-----BEGIN "),
    *(
        "a;",
        ';a="',
        ";a=b",
        "a/b;",
        "**a",
        "| a |\n",
        "> ",
        "- ",
        "e1",
        "1.",
        "1e",
        "data: ",
        "data\n",
        "\r",
        "{{",
        "a.b",
        '\n\\"""',
    ),
)
AROUND = (("", ""), ("", "!"), ('"', "\\"), ("http://", "\x00"))

SEARCHES = r"\b{}\.(search|sub|subn|split|finditer|findall)\("
OF_THE_USER = frozenset(
    f"inspector.{name}"
    for name in (
        *("capture.query", "cli.option_reader", "session.compose.raw_request", "session.compose.snippets"),
        *("session.compose.build", "session.task_filter", "settings_file"),
        *("tui.keys", "tui.themes", "tui.widgets.lines"),
    )
)
"""The modules whose patterns only read what the user typed, or files of the program."""


def shapes(*, every: bool = True) -> Iterator[tuple[str, Callable[[int], str]]]:
    """Return the awkward shapes: a word that is repeated, after each beginning and before each end, or after one."""
    for number, word in enumerate(WORDS):
        for before, after in AROUND if every else AROUND[number % len(AROUND) :][:1]:

            def make(size: int, word: str = word, before: str = before, after: str = after) -> str:
                return before + word * (size // len(word)) + after

            yield f"{before!r} {word!r}* {after!r}", make


def beginning_of(pattern: re.Pattern[Any]) -> str:
    """Return the literal text with which a pattern begins, such as `{{` for a reference to a variable."""
    written = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    literal = re.match(r"(?:\\[^\w\s]|[^\\\[\](){}.*+?|^$])*", written)
    return re.sub(r"\\(.)", r"\1", literal[0]) if literal else ""


def shapes_after(beginning: str) -> Iterator[tuple[str, Callable[[int], str]]]:
    """Return a word that is repeated after this beginning, for each word."""
    for word in WORDS if beginning else ():
        yield f"{beginning!r} {word!r}*", lambda size, word=word: beginning + word * (size // len(word))


def seconds(work: Callable[[Any], object], text: Any) -> float:
    began = time.process_time()
    work(text)
    return time.process_time() - began


def growth(work: Callable[[Any], object], make: Callable[[int], Any], size: int) -> str:
    """Return the times for a short and a long text if they grow too fast, else "", for a text of this size."""
    larger = make(size)
    long = seconds(work, larger)
    if long < NOTICED:
        return ""
    smaller = make(size // FACTOR)
    if long <= MOST * seconds(work, smaller):
        return ""
    short = min(seconds(work, smaller) for _ in range(3))
    long = min(long, seconds(work, larger))
    return f"{short:.3f} s, then {long:.3f} s" if long > MOST * short and long > NOTICED else ""


def names_of_modules() -> list[str]:
    found = pkgutil.walk_packages(inspector.__path__, "inspector.")
    return [module.name for module in found if not module.name.endswith("__main__")]


@cache
def patterns() -> dict[str, tuple[re.Pattern[Any], bool]]:
    """Return the patterns of the modules, compiled or written in a call of `re`, and whether they are searched for."""
    found: dict[str, tuple[re.Pattern[Any], bool]] = {}
    for name in names_of_modules():
        if name in OF_THE_USER:
            continue
        module = importlib.import_module(name)
        source = Path(str(module.__file__)).read_text(encoding="utf-8")
        for attribute, value in vars(module).items():
            if isinstance(value, re.Pattern):
                found[f"{name}.{attribute}"] = value, re.search(SEARCHES.format(attribute), source) is not None
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Call(ast.Attribute(ast.Name("re"), function), [ast.Constant(str() | bytes() as written), *_]):
                    if function not in ("compile", "escape"):
                        found[f"{name}:{node.lineno}"] = re.compile(written), function not in ("match", "fullmatch")
    return found


def matched(pattern: re.Pattern[Any], *, searched: bool) -> Callable[[Any], object]:
    def work(text: Any) -> None:
        pattern.match(text)
        pattern.fullmatch(text)
        for _ in pattern.finditer(text) if searched else ():
            pass

    return work


def test_the_patterns_are_found() -> None:
    assert len(patterns()) > 60
    assert patterns()["inspector.capture.secret_locations._MEMBER_END"][1]
    assert not patterns()["inspector.findings.card.secrets._PLACEHOLDER"][1]


def test_the_measurement_notices_a_quadratic_pattern() -> None:
    quadratic = re.compile(r"[a-z]+://")
    assert growth(matched(quadratic, searched=True), lambda size: "a" * size, 16_000)
    assert not growth(matched(re.compile(r"[a-z]++"), searched=True), lambda size: "a" * size, 1_000_000)


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Before Python 3.11.5, such a pattern can match the text of an attempt that it has abandoned."""
    written = {name: pattern.pattern for name, (pattern, _) in patterns().items()}
    texts = {name: text if isinstance(text, str) else text.decode("latin-1") for name, text in written.items()}
    assert [name for name, text in texts.items() if re.search(POSSESSIVE_GROUP, text)] == []


@pytest.mark.parametrize("pattern", [r"(?:ab|c)*+", r"(?:ab){2,}+x", r"a(?>b|c)"])
def test_a_possessive_group_is_found(pattern: str) -> None:
    assert re.search(POSSESSIVE_GROUP, pattern)


@pytest.mark.parametrize("pattern", [r"[ab]*+(?:c|d)*", r"a{2,}+", r"\)++"])
def test_a_possessive_character_is_not_a_group(pattern: str) -> None:
    assert not re.search(POSSESSIVE_GROUP, pattern)


def test_the_beginning_of_a_pattern_is_found() -> None:
    assert beginning_of(re.compile(r"\{\{\s*x")) == "{{"
    assert beginning_of(re.compile(rb"://[a-z]")) == "://"
    slow = re.compile(r"\{\{\s*([^{}]{1,200}?)\s*\}\}")
    work = matched(slow, searched=True)
    assert any(growth(work, make, 1000) for _, make in shapes_after(beginning_of(slow)))


@pytest.mark.slow  # 5 s of CPU time
def test_every_pattern_is_linear() -> None:
    assert not slow_patterns(patterns(), 5_000)


@pytest.mark.slow  # 20 s of CPU time
@pytest.mark.parametrize("share", range(SHARES))
def test_every_pattern_is_linear_for_long_texts(share: int) -> None:
    assert not slow_patterns(list(patterns())[share::SHARES], LONG, every=False)


REDACTOR = Redactor(["canary-9d1f7c", "123456", "aaaaaaaa", "://a@"])
READERS: dict[str, Callable[[str], object]] = {
    "Redactor.text": REDACTOR.text,
    "Redactor.url": REDACTOR.url,
    "Redactor.headers": lambda text: REDACTOR.headers([("Location", text), ("X-Echo", text), ("Authorization", text)]),
    "Redactor.body": lambda text: REDACTOR.body(text.encode()),
    "Redactor.body of a push configuration": lambda text: REDACTOR.body(text.encode(), push=True),
    "clean": clean,
    "clean with newlines": lambda text: clean(text, newlines=True),
    "clean_line": lambda text: clean_line(text, 80),
    "crop": lambda text: crop(text, 80),
    "safe_json.escape": escape,
    "safe_json.dump": lambda text: dump([text, float("inf")]),
    "jsonvalue.parse": lambda text: parse(text.encode()),
    "Decoder.feed": lambda text: read_stream(text.encode()),
    "clean_name": clean_name,
    "file_content.decode": decode,
    "looks_double_encoded": looks_double_encoded,
}


def read_stream(raw: bytes) -> None:
    parser = sse.Decoder()
    for at in range(0, len(raw), 16_384):
        parser.feed(raw[at : at + 16_384])


@pytest.mark.slow  # 3 s of CPU time
@pytest.mark.parametrize("name", READERS)
def test_every_reader_is_linear(name: str) -> None:
    assert not slow_shapes_of(READERS[name], 20_000)


@pytest.mark.slow  # 20 s of CPU time
@pytest.mark.parametrize("name", READERS)
def test_every_reader_is_linear_for_long_texts(name: str) -> None:
    assert not slow_shapes_of(READERS[name], LONG, every=False)


def repeated_names(count: int) -> str:
    """Return an object with many members, one of which is repeated."""
    return f"{{{', '.join(f'{json.dumps(str(number))}: 0' for number in (*range(count), 0))}}}"


def lost_steps(count: int) -> object:
    """Return a trace with many steps whose parents are missing."""
    return {"trace_id": "t", "steps": [{"step_id": str(number), "parent_step_id": "x"} for number in range(count)]}


def test_the_repeated_names_of_an_object_are_found_in_linear_time() -> None:
    assert not growth(lambda text: LenientReader().read(text), repeated_names, 4_000)


def test_the_steps_of_a_trace_are_sorted_in_linear_time() -> None:
    assert not growth(traceability.describe, lost_steps, 20_000)


def slow_shapes_of(read: Callable[[str], object], size: int, *, every: bool = True) -> list[str]:
    return [f"{shape}: {problem}" for shape, make in shapes(every=every) if (problem := growth(read, make, size))]


def slow_patterns(names: Iterable[str], size: int, *, every: bool = True) -> list[str]:
    """Return the first shape for which the time of a pattern grows too fast, for each such pattern."""
    found = []
    for name in names:
        pattern, searched = patterns()[name]
        as_bytes = isinstance(pattern.pattern, bytes)
        work = matched(pattern, searched=searched)
        after = shapes_after(beginning_of(pattern)) if every else ()
        for shape, make in (*shapes(every=every), *after):
            problem = growth(work, (lambda n, make=make: make(n).encode()) if as_bytes else make, size)
            if problem:
                found.append(f"{name} with {shape}: {problem}")
                break
    return found
