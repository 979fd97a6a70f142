"""Scenario files: contents, and errors with their lines."""

from __future__ import annotations

import re
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspector.sample_agents.scenario.catalog import BUILT_IN_FOLDER
from inspector.sample_agents.scenario.model import (
    Log,
    MessageResponse,
    Push,
    Repeat,
    SendArtifact,
    SetStatus,
    StartFault,
    Wait,
)
from inspector.sample_agents.scenario.reading import read_scenario
from inspector.sample_agents.scenario.toml_table import ScenarioError

from inspector.protocol.lifecycle import State
from inspector.text.toml_positions import lines_of

HEAD = 'description = "A test."\n'
NAMES = sorted(path.name for path in BUILT_IN_FOLDER.glob("*.toml"))


def read(folder: Path, text: str) -> Any:
    path = folder / "try.toml"
    path.write_text(text, "utf-8")
    return read_scenario(path)


# Lines


DOCUMENT = '''\
a = 1 # ] } "
b.c = "x # ]"
text = """
[[steps]] \\""" and more """
many = [
  1,
  { k = 'v"', "q r" = [ "a",
    { z = 2 } ] },
]
[[steps]]
x = 1
[[steps]]
y = 2
[steps.sub]
w = [ [1],
  [2] ]
'''


def test_every_value_is_found_on_its_line():
    tomllib.loads(DOCUMENT)
    lines = lines_of(DOCUMENT)
    assert {path: line for path, line in lines.items() if path} == {
        ("a",): 1,
        ("b",): 2,
        ("b", "c"): 2,
        ("text",): 3,
        ("many",): 5,
        ("many", 0): 6,
        ("many", 1): 7,
        ("many", 1, "k"): 7,
        ("many", 1, "q r"): 7,
        ("many", 1, "q r", 0): 7,
        ("many", 1, "q r", 1): 8,
        ("many", 1, "q r", 1, "z"): 8,
        ("steps",): 10,
        ("steps", 0): 10,
        ("steps", 0, "x"): 11,
        ("steps", 1): 12,
        ("steps", 1, "y"): 13,
        ("steps", 1, "sub"): 14,
        ("steps", 1, "sub", "w"): 15,
        ("steps", 1, "sub", "w", 0): 15,
        ("steps", 1, "sub", "w", 0, 0): 15,
        ("steps", 1, "sub", "w", 1): 16,
        ("steps", 1, "sub", "w", 1, 0): 16,
    }


def paths_in(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path} | {found for key, member in inner for found in paths_in(member, (*path, key))}


@given(st.text(alphabet="ab.=[]{}\"',#\n 1\\", max_size=60))
def test_every_value_of_any_toml_has_a_line(text: str):
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    lines = lines_of(text)
    assert paths_in(value) <= set(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_built_in_scenario_is_valid_and_each_value_has_a_line(name: str):
    text = (BUILT_IN_FOLDER / name).read_text("utf-8")
    assert paths_in(tomllib.loads(text)) <= set(lines_of(text))
    scenario = read_scenario(BUILT_IN_FOLDER / name)
    assert scenario.skill.tags
    assert scenario.skill.examples


# Contents


def test_the_example_of_the_documentation_is_valid(tmp_path: Path):
    page = (Path(__file__).parents[2] / "docs" / "mock.md").read_text(encoding="utf-8")
    [example] = re.findall("^```toml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert read(tmp_path, example).skill.examples == ["book two"]
    misspelt = example.replace('text = "A table at', 'filname = "a", text = "A table at')
    with pytest.raises(ScenarioError, match=r"unknown member 'filname'\. Did you mean 'filename'\?") as error:
        read(tmp_path, misspelt)
    assert str(error.value).split(": ", 1)[1] in page.replace("\n", " ")


def test_the_head_of_a_scenario_is_read(tmp_path: Path):
    scenario = read(
        tmp_path,
        'id = "book"\nname = "Book a table"\ndescription = "Books."\ntags = ["a", "b"]\nexamples = "book two"\n'
        'words = ["Book", "table"]\nmessage_ids = ["book-"]\ndefault = true\nnumber = { default = 2, most = 9 }\n'
        'fault = ["drop:3", "batch"]\nscopes = ["books", "books:write"]\nsteps = [{ completed = "" }]\n',
    )
    assert (scenario.skill.id, scenario.skill.name, scenario.skill.tags) == ("book", "Book a table", ["a", "b"])
    assert (scenario.skill.examples, scenario.skill.output_modes) == (["book two"], None)
    assert (scenario.words, scenario.message_ids, scenario.default) == ({"book", "table"}, ("book-",), True)
    assert (scenario.number.default, scenario.number.most) == (2, 9)
    assert [str(fault) for fault in scenario.faults] == ["drop:3", "batch"]
    assert scenario.scopes == ("books", "books:write")
    assert scenario.response == (SetStatus(State.COMPLETED),)


def test_the_file_name_is_the_default_id_name_and_word(tmp_path: Path):
    scenario = read(tmp_path, HEAD + 'steps = [{ message = "hi" }]')
    assert (scenario.skill.id, scenario.skill.name, scenario.words) == ("try", "Try", {"try"})
    assert isinstance(scenario.response, MessageResponse)


def test_every_kind_of_step_is_read(tmp_path: Path):
    (tmp_path / "pixel.png").write_bytes(b"\x89PNG")
    scenario = read(
        tmp_path,
        HEAD
        + """
steps = [
  { working = "On it.", parts = [{ data = [1, 2] }] },
  { wait = 1 },
  { log = "here" },
  { push = true },
  { fault = "drop:2" },
  { repeat = 3, steps = [ { wait = 0.5 } ] },
  { artifact = "a.md", id = "x", chunks = "{number}", every = 0.1, text = "# A", last = false, fault = "duplicate" },
  { artifact = "all", parts = [{ file = "pixel.png" }, { url = "https://x.example/a.pdf", filename = "a.pdf" }] },
  { input-required = "Well?", answers = [ { words = ["Yes"], steps = [{ wait = 2 }] }, { steps = [] } ] },
  { canceled = "" },
]
""",
    )
    working, wait, log, push, dropping, repeat, doubling, chunks, whole, question, end = scenario.response
    assert [part.text or part.data for part in working.parts] == ["On it.", [1, 2]]
    assert (wait, log, push) == (Wait(1.0), Log("here"), Push())
    assert isinstance(dropping, StartFault)
    assert isinstance(doubling, StartFault)
    assert repeat == Repeat(3, (Wait(0.5),))
    assert isinstance(chunks, SendArtifact)
    assert (chunks.chunks, chunks.every, chunks.last, chunks.id) == (None, 0.1, False, "x")
    assert chunks.parts[0].media_type == "text/markdown"
    assert [(part.filename, part.media_type) for part in whole.parts] == [
        ("pixel.png", "image/png"),
        ("a.pdf", "application/pdf"),
    ]
    assert whole.parts[0].raw == "iVBORw=="
    assert [(answer.words, answer.steps) for answer in question.answers] == [({"yes"}, (Wait(2.0),)), (set(), ())]
    assert end == SetStatus(State.CANCELED)


# Errors


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("description = \n", 1, "not valid TOML"),
        ('a = "\n\n', 1, "not valid TOML"),
        ("steps = [\n\n", 3, "not valid TOML"),
        ('steps = [{ wait = 1 }]\nname = "x"', 1, "description"),
        (HEAD, 1, "at least one step"),
        (HEAD + "steps = []", 2, "at least one step"),
        (HEAD + "steps = 3", 2, "a list"),
        (HEAD + "steps = [\n 3 ]", 3, "list of tables"),
        (HEAD + "steps = [\n { wait = 1 },\n { wiat = 1 },\n]", 4, "unknown member 'wiat'. Did you mean 'wait'?"),
        (HEAD + "steps = [\n { wait = 1 },\n { name = 'n' },\n]", 4, "no action"),
        (
            HEAD + '[[steps]]\ncompleted = ""\nparts = [{ txt = "a" }]',
            4,
            "unknown member 'txt'. Did you mean 'text'?",
        ),
        (HEAD + '[[steps]]\ncompleted = ""\nparts = [{ type = "a" }]', 4, "found: none"),
        (HEAD + 'steps = [\n { wait = 1, log = "x" } ]', 3, "wait and log"),
        (HEAD + "steps = [\n { wait = -1 } ]", 3, "seconds"),
        (HEAD + "steps = [\n { wait = true } ]", 3, "a number"),
        (HEAD + "[[steps]]\nwait = 1\nevery = 2", 4, "unknown member 'every'"),
        (HEAD + 'tags = ["a", 3]\nsteps = [{ wait = 1 }]', 2, "list of texts"),
        (HEAD + 'exmaples = ["a"]\nsteps = [{ wait = 1 }]', 2, "Did you mean 'examples'"),
        (HEAD + "number = { default = 5, most = 3 }\nsteps = [{ wait = 1 }]", 2, "default <= most"),
        (HEAD + "number = { most = 3, least = 1 }\nsteps = [{ wait = 1 }]", 2, "'least'"),
        (HEAD + 'fault = "no-pkce"\nsteps = [{ wait = 1 }]', 2, "set it with --fault"),
        (HEAD + 'scopes = ["a b"]\nsteps = [{ wait = 1 }]', 2, "without spaces"),
        (HEAD + 'fault = "explode"\nsteps = [{ wait = 1 }]', 2, "Unknown fault 'explode'"),
        (HEAD + 'steps = [\n { wait = 1, fault = "hangs" } ]', 3, "Did you mean 'hang'?"),
        (HEAD + 'steps = [\n { wait = 1, fault = "drop:x" } ]', 3, "needs a number"),
        (HEAD + 'steps = [\n { wait = 1, fault = "batch:1" } ]', 3, "has no number"),
        (HEAD + 'steps = [\n { wait = 1, fault = "html" } ]', 3, "at the top of the file"),
        (HEAD + 'steps = [\n { message = "a" },\n { wait = 1 } ]', 3, "must be the only step"),
        (HEAD + 'steps = [\n { message = "" } ]', 3, "a text or parts"),
        (HEAD + 'steps = [\n { completed = "a" },\n { wait = 1 } ]', 4, "follows the end"),
        (HEAD + 'steps = [\n { working = "a", answers = [] } ]', 3, "'answers'"),
        (HEAD + 'steps = [ { input-required = "a", answers = [\n { wrods = ["x"] } ] } ]', 3, "Did you mean 'words'"),
        (HEAD + 'steps = [\n { artifact = "a" } ]', 3, "found: none"),
        (HEAD + 'steps = [\n { artifact = "a", text = "b", data = 1 } ]', 3, "text, data"),
        (HEAD + 'steps = [ { artifact = "a", parts = [\n { text = "b", x = 1 } ] } ]', 3, "'x'"),
        (HEAD + 'steps = [\n { artifact = "a", data = 1, chunks = 3 } ]', 3, "exactly one part, a text"),
        (HEAD + 'steps = [\n { artifact = "a", text = "b", chunks = 0 } ]', 3, "from 1 to"),
        (HEAD + 'steps = [\n { artifact = "a", text = "b", append = true } ]', 3, "needs the id"),
        (HEAD + 'steps = [\n { artifact = "a", file = "nowhere.png" } ]', 3, "nowhere.png cannot be read"),
        (HEAD + "steps = [\n { repeat = 2, steps = [] } ]", 3, "needs steps"),
        (HEAD + 'steps = [\n { repeat = 2, steps = [{ failed = "" }] } ]', 3, "none of them may end"),
        (HEAD + "steps = [\n { push = false } ]", 3, "push must be true"),
    ],
)
def test_an_error_has_the_file_and_the_line(tmp_path: Path, text: str, line: int, message: str):
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'try.toml'}:{line}: ")
    assert message in str(caught.value)


STEP = 'description = "d"\n[[steps]]\n'
DATA = STEP + 'artifact = "a"\ndata = '


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"{STEP}wait = {'9' * 400}", 3, "wait must be from 0 to 86400 seconds"),
        (f"{STEP}wait = inf", 3, "wait must be from 0 to 86400 seconds"),
        (f"{STEP}wait = {'9' * 5000}", 3, "a number of more than 4,300 digits"),
        (f"{STEP}repeat = 0x{'f' * 20_000}\nsteps = [{{ log = '' }}]", 3, "repeat must be a number from 1"),
        (f"{STEP}{'.'.join('a' * 50_000)} = 1", 3, "a key with more than 100 dots"),
        (f"{STEP}[{'.'.join('a' * 50_000)}]", 3, "a key with more than 100 dots"),
        (f"{DATA}{'[' * 5000}{']' * 5000}", 4, "more than 200 arrays and tables within each other"),
        (f"{DATA}{'{a=' * 300}1{'}' * 300}", 4, "more than 200 arrays and tables within each other"),
        (f"{DATA}{'[' * 1_000_000}", 4, "more than 200 arrays and tables within each other"),
        (f"{DATA}{{ a = inf }}", 4, "data has a value that JSON cannot represent"),
        (f"{DATA}[2026-01-01]", 4, "data has a value that JSON cannot represent"),
        (f"{STEP}artifact = 'a'\nfile = '/dev/zero'", 4, "cannot be read: it has more than 20,000,000 bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 80 else "",
)
def test_extreme_content_is_an_error_with_its_line_and_without_delay(
    tmp_path: Path, text: str, line: int, message: str
):
    started = time.process_time()
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'try.toml'}:{line}: ")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 500
    assert time.process_time() - started < 2


def test_a_device_and_a_huge_file_are_refused_without_reading_all_of_them(tmp_path: Path):
    huge = tmp_path / "huge.toml"
    with huge.open("wb") as file:
        file.truncate(2**40)
    for file_ in (huge, Path("/dev/zero")):
        with pytest.raises(ScenarioError, match=r"cannot be read: it has more than 4,000,000 bytes"):
            read_scenario(file_)


@pytest.mark.parametrize("text", ["x" * 3_000_000, "\\n" * 1_000_000, '\\"' * 1_000_000])
def test_the_lines_after_a_long_text_are_found_without_delay(text: str):
    started = time.process_time()
    assert lines_of(f'a = """{text}"""\nb = 1')[("b",)] == 2
    assert lines_of(f'a = "{text}"\nb = 1')[("b",)] == 2
    assert time.process_time() - started < 2


def test_an_unreadable_file_is_an_error(tmp_path: Path):
    with pytest.raises(ScenarioError, match="cannot be read"):
        read_scenario(tmp_path / "nowhere.toml")
    odd = tmp_path / "odd.toml"
    odd.write_bytes(b"a = 1\n# \xff\n")
    with pytest.raises(ScenarioError, match=r"odd\.toml:2: The file is not UTF-8"):
        read_scenario(odd)
    odd.write_bytes(b"a = " + b"[" * 100_000)
    with pytest.raises(ScenarioError, match=r"odd\.toml:1: "):
        read_scenario(odd)
    odd.write_bytes(b"#" * 5_000_000)
    with pytest.raises(ScenarioError, match="more than"):
        read_scenario(odd)
