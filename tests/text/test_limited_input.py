"""Files and texts of other people: limits of their size, and errors with a line."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest

from inspector.text import safe_toml
from inspector.text.limited_file import read_limited
from inspector.text.safe_toml import TomlError

DOTTED = ".".join("a" * 50_000)


def test_a_file_is_read_up_to_the_limit(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 1000)
    assert read_limited(path, 1000) == b"x" * 1000
    assert read_limited(io.BytesIO(b"yy"), 2) == b"yy"
    for endless in (path, Path("/dev/zero"), io.BytesIO(b"x" * 1000)):
        with pytest.raises(OSError, match="it has more than 999 bytes"):
            read_limited(endless, 999)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"{DOTTED} = 1", "a key with more than 100 dots"),
        (f"[{DOTTED}]", "a key with more than 100 dots"),
        (f"a = {{ b = 1, {DOTTED} = 1 }}", "a key with more than 100 dots"),
        ('"x" . ' * 200 + "y = 1", "a key with more than 100 dots"),
        ("a = " + "9" * 5000, "a number of more than 4,300 digits"),
        ("a = [1, -" + "9_" * 5000 + "9]", "a number of more than 4,300 digits"),
        ("a = " + "[" * 300 + "]" * 300, "more than 200 arrays and tables within each other"),
        ("a = " + "{a = " * 300, "more than 200 arrays and tables within each other"),
        ("a = oops", "Invalid value"),
    ],
)
def test_a_mistake_is_reported_with_its_line_and_without_delay(line: str, why: str):
    started = time.process_time()
    with pytest.raises(TomlError) as raised:
        safe_toml.read(f'title = "x"\nnote = """\n{DOTTED} = 1\n{"9" * 5000}"""\n{line}\n')
    assert raised.value.line == 5
    assert why in str(raised.value)
    assert "(at line 5)" in str(raised.value)
    assert time.process_time() - started < 2  # tomllib needs half a minute for such a key


@pytest.mark.parametrize("text", ["x = " + "[" * 5000, "x = 2026-99-99"])
def test_other_mistakes_are_errors_too(text: str):
    with pytest.raises(TomlError):
        safe_toml.read(text)


def test_long_strings_and_comments_are_no_mistakes():
    text = f"a = '{DOTTED}'\nb = \"{DOTTED} \\\" {DOTTED}\"\n# {DOTTED} = {'9' * 5000}\nc = '''\n{DOTTED} = 1'''\n"
    assert len(safe_toml.read(text)["b"]) > 100_000


def test_the_time_grows_with_the_length_of_the_text():
    def seconds(size: int) -> float:
        started = time.process_time()
        for shape in ('"', "'", '"""', "a.", "a", "#", "\\", "9", '"a".', "'''"):
            with pytest.raises(TomlError):
                safe_toml.read("x = " + shape * size)
        return time.process_time() - started

    small = min(seconds(20_000) for _ in range(3))
    assert min(seconds(80_000) for _ in range(3)) < 10 * small  # 4 times the text: 16 times would be quadratic
