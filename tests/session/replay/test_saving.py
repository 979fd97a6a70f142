"""Artifacts as files: hostile names, exact bytes, nothing overwritten. Includes hostile case 25."""

from __future__ import annotations

import base64
import os
import stat
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.assemble import AssembledTask
from inspector.protocol.model import Artifact, Message, Part, Task, TaskArtifactUpdateEvent
from inspector.session.replay.saving import (
    LONGEST,
    OutputFile,
    SaveError,
    clean_name,
    default_folder,
    existing_names,
    files_of_answer,
    save,
    save_answer,
)

DEVICES = ("CON", "con.txt", "NUL", "nul.tar.gz", "COM1", "lpt9.log", "COM¹", "AUX", "CLOCK$", "CONIN$")

HOSTILE = {
    "../../x": "x",
    "..\\..\\x.txt": "x.txt",
    "/etc/passwd": "passwd",
    "C:\\Windows\\win.ini": "win.ini",
    "C:autoexec.bat": "C_autoexec.bat",
    "file.txt:stream": "file.txt_stream",
    "a/b/": "b",
    "": "fallback",
    ".": "fallback",
    "..": "fallback",
    "../..": "fallback",
    "...": "fallback",
    "   ": "fallback",
    "\x00": "fallback",
    "a\x00b": "ab",
    "x\x1b]52;c;aGk=\x07.md": "x]52;c;aGk=.md",
    "evil\u202egnp.exe": "evilgnp.exe",
    "a\u200bb\ufeffc": "abc",
    "a\u2028b": "ab",
    ".bashrc": "bashrc",
    ".ssh/authorized_keys": "authorized_keys",
    "-rf": "_-rf",
    "~root": "_~root",
    'a<b>c:d"e|f?g*h': "a_b_c_d_e_f_g_h",
    "ends with dots...": "ends with dots",
    "two\nlines\tand  spaces": "two lines and spaces",
    "Übersicht – 報告.md": "Übersicht – 報告.md",
    "e\u0301.txt": "é.txt",
    "report.md": "report.md",
}


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_case_25_a_hostile_name_becomes_a_safe_file_name(name: str):
    assert clean_name(name, "fallback") == HOSTILE[name]


@pytest.mark.parametrize("name", DEVICES)
def test_case_25_a_device_name_is_changed(name: str):
    assert clean_name(name) == f"_{name}"


def test_a_long_name_is_cut_before_its_suffix():
    assert clean_name("x" * 100_000 + ".md") == "x" * (LONGEST - 3) + ".md"
    assert clean_name("報" * 1000 + ".json") == "報" * ((LONGEST - 5) // 3) + ".json"
    assert len(clean_name("a." + "b" * 1000).encode()) <= LONGEST


@given(st.text(max_size=300) | st.text(alphabet="./\\:~-\x00\u202eCON ", max_size=40))
def test_every_name_becomes_a_file_in_the_folder(name: str):
    cleaned = clean_name(name)
    assert cleaned
    assert len(cleaned.encode()) <= LONGEST + 1
    assert Path("/folder", cleaned).parent == Path("/folder")
    assert not set(cleaned) & set('<>:"/\\|?*')
    assert not any(unicodedata.category(letter).startswith("C") for letter in cleaned)
    assert cleaned[0] not in ".-~ "
    assert cleaned[-1] not in " ."
    assert clean_name(cleaned) == cleaned


def task_of(*artifacts: dict[str, Any]) -> Task:
    return Task.model_validate({"id": "t", "artifacts": list(artifacts)})


def files(answer: Any) -> dict[str, bytes]:
    return {item.name: item.content for item in files_of_answer(answer)}


def test_each_type_of_part_is_a_file_with_its_exact_bytes():
    raw = bytes(range(256))
    text = "Zeile\r\n\ttab \x1b[2J end, no newline"
    answer = task_of(
        {"artifactId": "a", "name": "report.md", "parts": [{"text": text}]},
        {"artifactId": "b", "name": "table", "parts": [{"data": {"ü": [1, None]}}]},
        {"artifactId": "c", "parts": [{"raw": base64.b64encode(raw).decode(), "mediaType": "image/png"}]},
        {"artifactId": "d", "name": "link", "parts": [{"url": "file:///etc/passwd\n[InternetShortcut]"}]},
        {"artifactId": "e", "parts": [{"text": "# hi", "mediaType": "text/markdown; charset=utf-8"}]},
        {"artifactId": "f", "parts": [{"raw": "!!!", "filename": "f.png"}]},
        {"artifactId": "g", "parts": [{"thing": 1}]},
        {"artifactId": "h", "parts": []},
    )
    assert files(answer) == {
        "report.md": text.encode(),
        "table.json": '{\n  "ü": [\n    1,\n    null\n  ]\n}\n'.encode(),
        "c.png": raw,
        "link.url": b"file:///etc/passwd%0A[InternetShortcut]\n",
        "e.md": b"# hi",
        "f.png.base64": b"!!!",
        "g.json": b'{\n  "thing": 1\n}\n',
    }


def test_base64_is_decoded_once_and_in_all_its_variants():
    twice = base64.b64encode(base64.b64encode(b"x" * 90))
    broken = base64.encodebytes(b"y" * 100).decode()
    answer = task_of(
        {"artifactId": "twice", "parts": [{"raw": twice.decode()}]},
        {"artifactId": "broken", "parts": [{"raw": broken}]},
        {"artifactId": "urls", "parts": [{"raw": "-_8"}]},
    )
    items = files_of_answer(answer)
    assert [item.content for item in items] == [base64.b64encode(b"x" * 90), b"y" * 100, b"\xfb\xff"]
    assert "encoded twice" in items[0].note
    assert all(item.note for item in items[1:])


def chunks_of(*contents: bytes, name: str = "data.bin") -> Task:
    raws = [base64.b64encode(content).decode() for content in contents]
    return task_of({"artifactId": "a", "parts": [{"raw": raw, "filename": name} for raw in raws]})


def test_chunks_of_a_file_are_one_file():
    [item] = files_of_answer(chunks_of(b"\x89PNG\r\n\x1a\n first", b" second", b" third"))
    assert (item.name, item.content) == ("data.bin", b"\x89PNG\r\n\x1a\n first second third")
    assert item.note == "joined from 3 parts"


def test_a_part_that_begins_like_a_file_is_another_file_of_the_same_name():
    items = files_of_answer(chunks_of(b"GIF89a one", b"-more", b"GIF89a two"))
    assert [(item.name, item.content) for item in items] == [
        ("data.bin", b"GIF89a one-more"),
        ("data-2.bin", b"GIF89a two"),
    ]
    assert [item.note for item in items] == ["joined from 2 parts", "several files have this name"]


def test_chunks_of_the_base64_of_a_file_are_one_file():
    encoded = base64.b64encode(b"the whole content").decode()
    parts = [{"raw": piece, "filename": "data.bin"} for piece in (encoded[:5], encoded[5:11], encoded[11:])]
    [item] = files_of_answer(task_of({"artifactId": "a", "parts": parts}))
    assert (item.name, item.content, item.note) == ("data.bin", b"the whole content", "joined from 3 parts")


def test_files_with_different_names_are_not_joined():
    raw = base64.b64encode(b"one").decode()
    parts = [{"raw": raw, "filename": "a"}, {"raw": raw, "filename": "b"}, {"raw": raw}, {"raw": raw}]
    assert len(files(task_of({"artifactId": "a", "parts": parts}))) == 4


def test_parts_with_equal_names_have_separate_files():
    parts = [{"text": "one"}, {"data": 1}, {"text": "two"}, {"raw": "AAAA", "filename": "../A.bin"}]
    answer = task_of(
        {"artifactId": "a", "name": "mix.md", "parts": parts},
        {"artifactId": "b", "name": "MIX-1.md", "parts": [{"text": "three"}]},
        {"artifactId": "c", "name": "x", "parts": [{"raw": "AAAA", "filename": "a.BIN"}]},
    )
    assert files(answer) == {
        "mix-1.md": b"one",
        "mix-2.md.json": b"1\n",
        "mix-3.md": b"two",
        "A.bin": b"\0\0\0",
        "MIX-1-2.md": b"three",
        "a-2.BIN": b"\0\0\0",
    }


def test_an_image_does_not_get_the_suffix_of_a_text():
    png = {"raw": "AAAA", "mediaType": "image/png"}
    answer = task_of(
        {"artifactId": "a", "name": "report.md", "parts": [{"text": "one"}, png, {"raw": "AAAA"}]},
        {"artifactId": "b", "name": "chart v1.0", "parts": [png]},
        {"artifactId": "c", "name": "photo.JPEG", "parts": [{"raw": "AAAA", "mediaType": "image/jpeg"}]},
        {"artifactId": "d", "name": "x", "parts": [{**png, "filename": "own.md"}]},
    )
    assert list(files(answer)) == [
        "report-1.md",
        "report-2.md.png",
        "report-3.md",
        "chart v1.0.png",
        "photo.JPEG",
        "own.md",
    ]


def test_a_streamed_text_is_one_file_even_if_its_chunks_have_other_members():
    account = AssembledTask("t")
    for number, text in enumerate(("# Re", "port\n", "", "é\U0001f600")):
        part = Part.model_validate({"text": text, "metadata": {"n": number}} if number % 2 else {"text": text})
        artifact = Artifact(artifact_id="a", name="r.md", parts=[part])
        account.apply(TaskArtifactUpdateEvent(task_id="t", artifact=artifact, append=number > 0), float(number))
    assert files(account) == {"r.md": "# Report\né\U0001f600".encode()}


def test_a_message_in_place_of_a_task_is_saved():
    assert files(Message(message_id="m", parts=[Part(text="hi")])) == {"message.txt": b"hi"}


def test_ten_thousand_artifacts_with_one_name_have_separate_files():
    many = [{"artifactId": "a", "name": "x.md", "parts": [{"text": str(number)}]} for number in range(10_000)]
    assert len(files(task_of(*many))) == 10_000


# On the disk


def test_files_are_private_and_nothing_is_overwritten(tmp_path: Path):
    folder = tmp_path / "new" / "folder"
    (first,) = save([OutputFile("x.md", b"one")], folder)
    assert existing_names([OutputFile("x.md", b""), OutputFile("y.md", b"")], folder) == ["x.md"]
    (second,) = save([OutputFile("x.md", b"two")], folder)
    assert (first.read_bytes(), second.name, second.read_bytes()) == (b"one", "x-2.md", b"two")
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (third,) = save([OutputFile("x.md", b"three")], folder, overwrite=True)
    assert third == first
    assert first.read_bytes() == b"three"


@pytest.mark.parametrize("over", [False, True])
def test_an_existing_link_is_not_followed(tmp_path: Path, over: bool):
    target, folder = tmp_path / "target", tmp_path / "folder"
    target.write_bytes(b"mine")
    folder.mkdir()
    (folder / "x").symlink_to(target)
    save([OutputFile("x", b"evil")], folder, overwrite=over)
    assert target.read_bytes() == b"mine"


def test_a_write_error_is_reported(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(SaveError, match="Cannot create the folder"):
        save([OutputFile("x", b"")], tmp_path / "file" / "below")
    (tmp_path / "x").mkdir()
    with pytest.raises(SaveError, match="Cannot save x in"):
        save([OutputFile("x", b"")], tmp_path, overwrite=True)


def test_case_25_a_hundred_megabytes_are_saved_byte_for_byte(tmp_path: Path):
    content = os.urandom(1024) * 100 * 1024
    part = {"raw": base64.b64encode(content).decode(), "filename": "../../big.bin"}
    [(path, note)] = save_answer(task_of({"artifactId": "a", "parts": [part]}), tmp_path)
    assert path == tmp_path / "big.bin"
    assert not note
    assert path.read_bytes() == content


def test_the_default_folder_is_below_the_working_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    for task_id, name in (
        ("59f8f6bc-f766-49ae-abcb-abb4fea4815c", "59f8f6bc"),
        ("task-00012", "k-00012"),
        ("../../../x", "x"),
        ("../../..", "task"),
    ):
        assert default_folder(task_id) == tmp_path / "artifacts" / name
