"""Snippets: drafts in files that people write, with a sentence for each mistake, and variables."""

from __future__ import annotations

import base64
import itertools
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from inspector.session.compose.build import compose
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft
from inspector.session.compose.snippets import (
    LARGEST,
    SnippetError,
    as_toml,
    fill_variables,
    find,
    load,
    save,
    variables,
    write,
)

DOCS = Path(__file__).parents[3] / "docs"
WHOLE = """\
title = "Summarise a report"

[[part]]
text = "Summarise {{topic}} in five lines.\\n"
media_type = "text/markdown"
metadata = { lang = "en", n = 1 }

[[part]]
file = "report.pdf"

[[part]]
url = "https://files.example/{{topic}}.png"
filename = "picture.png"

[[part]]
data = { rows = [1, 2.5, "a < b"], nested = { yes = true } }

[[part]]
data = '[1, null]'

[message]
task = "t"
context = "c"
references = ["r"]
extensions = ["https://example.com/ext/v1"]
metadata = '{"trace":  1}'
id = "mine"

[answer]
modes = ["text/markdown"]
history = 0
blocking = false

[request]
tenant = "acme"
metadata = { who = "{{topic}}" }
params = { X-Team = "{{team}}" }
"""


def given(tmp_path: Path, text: str | bytes, name: str = "x.a2a.toml") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_snippet_says_all_that_a_draft_can(tmp_path: Path):
    snippet = load(given(tmp_path, WHOLE))
    assert (snippet.title, snippet.path) == ("Summarise a report", tmp_path / "x.a2a.toml")
    draft = snippet.draft
    assert replace(draft, parts=(), request_id="") == Draft(
        (),
        task_id="t",
        context_id="c",
        references=("r",),
        metadata='{"trace":  1}',
        extensions=("https://example.com/ext/v1",),
        blocking=False,
        history_length=0,
        accepted_output_modes=("text/markdown",),
        request_metadata='{"who": "{{topic}}"}',
        tenant="acme",
        svc_params=(("X-Team", "{{team}}"),),
        message_id="mine",
        request_id="",
    )
    text, file, link, data, written = draft.parts
    assert text == DraftPart(
        PartKind.TEXT, "Summarise {{topic}} in five lines.\n", "text/markdown", "", '{"lang": "en", "n": 1}'
    )
    assert file == DraftPart(PartKind.FILE, str(tmp_path / "report.pdf"))
    assert link == DraftPart(PartKind.LINK, "https://files.example/{{topic}}.png", "", "picture.png")
    assert data.value == '{"rows": [1, 2.5, "a < b"], "nested": {"yes": true}}'
    assert written.value == "[1, null]"


def test_a_file_without_a_title_is_called_by_its_name_and_has_new_ids(tmp_path: Path):
    path = given(tmp_path, '[[part]]\ntext = "x"\n', "greet me.a2a.toml")
    assert load(path).title == "greet me"
    assert load(path).draft.message_id != load(path).draft.message_id
    assert load(given(tmp_path, "")).draft.parts == ()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("part = 1", 1, "part must be an array."),
        ("[part]\ntext = 'x'", 1, "part must be an array."),
        ("part = [1]", 1, "part 1 is not a table."),
        ("[[part]]", 1, "part 1 must have exactly one of text, file, url and data."),
        ("[[part]]\ntext = 'x'\nfile = 'y'", 1, "part 1 must have exactly one of text, file, url and data."),
        (
            "[[part]]\ntext = 'x'\n[[part]]\nmedia_type = 'y'",
            3,
            "part 2 must have exactly one of text, file, url and data.",
        ),
        ("[[part]]\ntext = 1", 2, "text must be a text."),
        ("[[part]]\nfile = ['x']", 2, "file must be a text."),
        (
            "[[part]]\ntext = 'x'\nmime = 'y'",
            3,
            "unknown key 'mime' in part 1; the keys are filename, media_type, metadata, text.",
        ),
        ("[[part]]\ntext = 'x'\nfilename = 1", 3, "filename must be a text."),
        ("[[part]]\ndata = { at = 2026-01-01 }", 2, "data has a value that JSON cannot represent"),
        ("[[part]]\ndata = { n = inf }", 2, "data has a value that JSON cannot represent"),
        ("[[part]]\ntext = 'x'\nmetadata = nan", 3, "metadata has a value that JSON cannot represent"),
        ("titel = 'x'", 1, "unknown key 'titel'; the keys are answer, message, part, request, title."),
        ("title = 1", 1, "title must be a text."),
        ("message = 'x'", 1, "message must be a table."),
        ("[message]\nmodes = []", 2, "unknown key 'modes' in message; the keys are context, extensions, id,"),
        ("[message]\nreferences = 'x'", 2, "references must be an array."),
        ("[message]\nextensions = [1]", 2, "extensions must be an array of texts."),
        ("[answer]\nhistory = '3'", 2, "history must be a number."),
        ("[answer]\nhistory = true", 2, "history must be a number."),
        ("[answer]\nblocking = 1", 2, "blocking must be true or false."),
        ("[request]\nparams = ['x']", 2, "params must be a table."),
        ("[request]\nparams = { a = 1 }", 2, "params must be a table of texts."),
        ("[request]\nheaders = {}", 2, "unknown key 'headers' in request; the keys are metadata, params, tenant."),
        ("title = ", 1, "Invalid value."),
        ("title = 'x'\n\ntitle 'y'", 3, "Expected '='"),
        (b"title = '\xff'", 0, "not UTF-8 at byte 9."),
        ("x = " + "[" * 5000, 1, "is not a valid snippet"),
    ],
)
def test_every_mistake_has_its_line_and_its_sentence(tmp_path: Path, text: str | bytes, line: int, words: str):
    path = given(tmp_path, text)
    with pytest.raises(SnippetError) as raised:
        load(path)
    where = f"{path}:{line}" if line else str(path)
    assert str(raised.value).startswith(f"{where} is not a valid snippet: ")
    assert words in str(raised.value)


def test_what_cannot_be_read_is_said_to_be_so(tmp_path: Path):
    with pytest.raises(SnippetError, match=r"gone.* could not be read: No such file or directory\."):
        load(tmp_path / "gone")
    with pytest.raises(SnippetError, match=r"could not be read: Is a directory\."):
        load(tmp_path)
    large = given(tmp_path, b"#" * (LARGEST + 1))
    with pytest.raises(SnippetError, match=r"is larger than 8,000,000 bytes\."):
        load(large)
    with pytest.raises(SnippetError, match=r"is larger than 8,000,000 bytes\."):
        load(Path("/dev/zero"))


def test_the_snippets_of_folders_are_found_and_the_broken_ones_named(tmp_path: Path):
    for name in ("b", "a"):
        given(tmp_path, f'title = "{name}"', f"{name}.a2a.toml")
    given(tmp_path, "nonsense", "c.a2a.toml")
    given(tmp_path, "nonsense", "other.toml")
    (tmp_path / "folder.a2a.toml").mkdir()
    found, problems = find([tmp_path, tmp_path / "missing"])
    assert [snippet.title for snippet in found] == ["a", "b"]
    assert len(problems) == 2
    assert "c.a2a.toml:1 is not a valid snippet" in problems[0]
    assert "folder.a2a.toml could not be read" in problems[1]


def test_the_example_of_the_handbook_is_a_snippet(tmp_path: Path):
    lines = (DOCS / "compose.md").read_text(encoding="utf-8").splitlines()
    start = lines.index('    title = "Summarise a report"')
    block = itertools.takewhile(
        lambda line: not line or (line.startswith("    ") and "a2a-inspect" not in line), lines[start:]
    )
    draft = load(given(tmp_path, "\n".join(line[4:] for line in block))).draft
    assert [part.kind for part in draft.parts] == [PartKind.TEXT, PartKind.FILE, PartKind.LINK, PartKind.DATA]
    assert variables(draft) == ("topic", "LANG", "team")
    assert (draft.tenant, draft.blocking, draft.history_length) == ("acme", False, 3)


# ── files beside a snippet ──


def test_a_file_is_beside_the_snippet_wherever_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "snippets"
    folder.mkdir()
    (folder / "note.txt").write_text("beside")
    path = given(folder, "[[part]]\nfile = 'note.txt'")
    monkeypatch.chdir(tmp_path)
    [part] = compose(load(path.relative_to(tmp_path)).draft).request.message.parts
    assert base64.b64decode(part.raw) == b"beside"


@pytest.mark.parametrize("value", ["/etc/hosts", "~/note.txt", "{{folder}}/note.txt", ""])
def test_a_path_that_says_where_it_is_stays_as_it_is(tmp_path: Path, value: str):
    [part] = load(given(tmp_path, f"[[part]]\nfile = '{value}'")).draft.parts
    assert part.value == value


def test_a_home_of_nobody_is_no_crash(tmp_path: Path):
    draft = load(given(tmp_path, "[[part]]\nfile = '~nobody-is-called-that/x'")).draft
    assert "unknown user in path" in compose(draft).problems[0].words


def test_a_draft_is_saved_with_its_files_as_they_are_found_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "snippets"
    (folder / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    values = ("snippets/deep/a.txt", str(folder / "b.txt"), "c.txt", "~/d.txt", "{{where}}/e.txt")
    draft = Draft(tuple(DraftPart(PartKind.FILE, value) for value in values))
    path = folder / "x.a2a.toml"
    save(Path("snippets/x.a2a.toml"), "x", draft)
    assert [part["file"] for part in tomllib.loads(path.read_text())["part"]] == [
        "deep/a.txt",
        "b.txt",
        str(tmp_path / "c.txt"),
        "~/d.txt",
        "{{where}}/e.txt",
    ]
    monkeypatch.chdir("/")
    found = [part.value for part in load(path).draft.parts]
    assert found == [str(folder / "deep/a.txt"), str(folder / "b.txt"), str(tmp_path / "c.txt"), *values[3:]]


def test_saving_takes_nobody_s_place_unasked(tmp_path: Path):
    path = given(tmp_path, "mine")
    with pytest.raises(FileExistsError):
        save(path, "x", text_draft("x"))
    assert path.read_text() == "mine"
    save(path, "x", text_draft("new"), replacing=True)
    assert load(path).draft.parts[0].value == "new"
    with pytest.raises(OSError, match="No such file"):
        save(tmp_path / "gone" / "x.a2a.toml", "x", text_draft("x"))


def test_a_snippet_is_pleasant_to_read(tmp_path: Path):
    draft = Draft((DraftPart(PartKind.TEXT, "one\ntwo\n"),), message_id="m", task_id="t")
    assert as_toml(write("Two lines", draft)) == (
        'title = "Two lines"\n\n[[part]]\ntext = """\none\ntwo\n"""\n\n[message]\ntask = "t"\n'
    )
    assert 'id = "m"' in as_toml(write("", draft, whole=True))


# ── variables ──


def test_variables_stand_anywhere_and_are_named_once_in_order(tmp_path: Path):
    assert variables(load(given(tmp_path, WHOLE)).draft) == ("topic", "team")
    odd = text_draft("{{ a }} {{b_2}} {{}} {{1x}} {{a}} {{a b}} {{{c}}} {{file:/x}} { {d} }")
    assert variables(odd) == ("a", "b_2", "c")


def test_variables_are_filled_and_those_without_a_value_stay(tmp_path: Path):
    draft = fill_variables(load(given(tmp_path, WHOLE)).draft, {"topic": 'a "b"\n\\', "other": "x"})
    assert draft.parts[0].value == 'Summarise a "b"\n\\ in five lines.\n'
    assert draft.request_metadata == '{"who": "a \\"b\\"\\n\\\\"}'
    assert draft.svc_params == (("X-Team", "{{team}}"),)
    assert fill_variables(text_draft("{{a}}"), {"a": "{{b}}", "b": "no"}).parts[0].value == "{{b}}", (
        "once, and not again"
    )
    assert fill_variables(text_draft("{{ a }}"), {"a": "\\1 \\g<0>"}).parts[0].value == "\\1 \\g<0>"


def test_in_json_a_value_stands_inside_of_a_string():
    draft = Draft((DraftPart(PartKind.DATA, '{"a": "{{v}}"}', metadata='{"b": "{{v}}"}'),), metadata='{"c": "{{v}}"}')
    value = 'x", "injected": "\u2028'
    request = compose(fill_variables(draft, {"v": value})).request
    assert request.message.parts[0].data == {"a": value}
    assert request.message.parts[0].metadata == {"b": value}
    assert request.message.metadata == {"c": value}


def test_every_text_of_a_draft_is_filled():
    v = "{{v}}"
    draft = Draft(
        (DraftPart(PartKind.LINK, v, v, v, '{"a": "{{v}}"}'),),
        task_id=v,
        context_id=v,
        references=(v,),
        extensions=(v,),
        accepted_output_modes=(v,),
        tenant=v,
        svc_params=((v, v),),
        message_id=v,
        request_id="r",
    )
    done = fill_variables(draft, {"v": "!"})
    assert repr(done).count("!") == repr(draft).count(v) - 2, "all but the id, and the name of a parameter"
    assert (done.message_id, done.svc_params) == (v, ((v, "!"),))


def test_a_value_that_the_shell_could_not_read_is_no_crash():
    value = os.fsdecode(b"caf\xe9")
    draft = fill_variables(
        Draft((DraftPart(PartKind.DATA, '"{{v}}"'), DraftPart(PartKind.TEXT, "{{v}}"))), {"v": value}
    )
    assert [problem.where for problem in compose(draft).problems] == ["parts/0"]
