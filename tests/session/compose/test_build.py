"""From a draft to its request: parts, files and JSON as they are, and a sentence for what cannot be sent."""

from __future__ import annotations

import base64
import os
from dataclasses import replace
from pathlib import Path

import pytest

from inspector.protocol.errors import FaultCode, FaultError, Whose
from inspector.session.compose.build import LARGEST_MESSAGE, Problem, compose, guess_type, name_in_url
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft

FILE, LINK, DATA, TEXT = PartKind.FILE, PartKind.LINK, PartKind.DATA, PartKind.TEXT


def parts(*written: DraftPart) -> list[object]:
    composed = compose(Draft(written))
    assert composed.problems == ()
    return composed.request.to_json()["message"]["parts"]


def problem(part: DraftPart, *, whole: bool = False) -> Problem:
    """Return the problem of a part between two valid parts, which are built unchanged."""
    composed = compose(Draft((DraftPart(TEXT, "a"), part, DraftPart(TEXT, "b"))), whole=whole)
    [found] = composed.problems
    assert [part.text for part in composed.request.message.parts] == ["a", "b"]
    with pytest.raises(FaultError) as raised:
        composed.check()
    fault = raised.value.fault
    assert (fault.whose, fault.code, fault.seen) == (Whose.YOURS, FaultCode.USAGE, found.words)
    return found


def test_the_parts_keep_their_order_and_say_what_they_are(tmp_path: Path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\0\xff")
    assert parts(
        DraftPart(DATA, '{"b": 1, "a": [1.0, "x"]}'),
        DraftPart(TEXT, "one"),
        DraftPart(FILE, str(tmp_path / "a.png")),
        DraftPart(LINK, "https://files.example/dir/my%20report.pdf?x=1#top"),
        DraftPart(TEXT, "two", "text/markdown", "two.md", '{"k": "v"}'),
    ) == [
        {"data": {"b": 1, "a": [1.0, "x"]}, "mediaType": "application/json"},
        {"text": "one"},
        {"raw": base64.b64encode(b"\x89PNG\0\xff").decode(), "filename": "a.png", "mediaType": "image/png"},
        {
            "url": "https://files.example/dir/my%20report.pdf?x=1#top",
            "filename": "my report.pdf",
            "mediaType": "application/pdf",
        },
        {"text": "two", "mediaType": "text/markdown", "filename": "two.md", "metadata": {"k": "v"}},
    ]


@pytest.mark.parametrize("url", ["https://files.example/reports/latest", "https://files.example/a.unknown-to-all"])
def test_the_type_of_a_link_is_not_guessed_without_a_known_ending(url: str):
    assert parts(DraftPart(LINK, url)) == [{"url": url, "filename": name_in_url(url)}]
    [named] = parts(DraftPart(LINK, url, filename="latest.pdf"))
    assert named["mediaType"] == "application/pdf"


@pytest.mark.parametrize("written", ["null", "0", "false", '""', '"e999"', "[]", "{}", ' {"a" : null} \n', "1e300"])
def test_data_is_any_json(written: str):
    [part] = compose(Draft((DraftPart(DATA, written),))).request.message.parts
    assert part.content == "data"


def test_an_empty_text_is_a_part_and_an_empty_file_is_a_file(tmp_path: Path):
    (tmp_path / "empty").touch()
    [text, file] = parts(DraftPart(TEXT, ""), DraftPart(FILE, str(tmp_path / "empty")))
    assert (text, file) == ({"text": ""}, {"raw": "", "filename": "empty", "mediaType": "application/octet-stream"})


def test_what_is_given_stands_above_what_is_guessed(tmp_path: Path):
    (tmp_path / "a.bin").write_bytes(b"x")
    [file, link, data] = parts(
        DraftPart(FILE, str(tmp_path / "a.bin"), "text/x-odd", "b.txt"),
        DraftPart(LINK, "https://h", "text/html", "index.html"),
        DraftPart(DATA, "1", "application/vnd.x+json", "one.json"),
    )
    assert (file["mediaType"], file["filename"]) == ("text/x-odd", "b.txt")
    assert (link["mediaType"], link["filename"]) == ("text/html", "index.html")
    assert (data["mediaType"], data["filename"]) == ("application/vnd.x+json", "one.json")


@pytest.mark.parametrize(
    ("url", "name"),
    [("https://h/a/b%2Fc.txt", "c.txt"), ("https://h", ""), ("https://h/", ""), ("http://[x", ""), ("", "")],
)
def test_a_url_gives_a_name_where_it_has_one(url: str, name: str):
    assert name_in_url(url) == name


def test_an_unknown_ending_is_bytes():
    assert (guess_type("a.unknown-to-all"), guess_type(""), guess_type("a.json")) == (
        "application/octet-stream",
        "application/octet-stream",
        "application/json",
    )


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("log.txt.gz", "application/gzip"),
        ("log.tgz", "application/gzip"),
        ("table.csv.bz2", "application/x-bzip2"),
        ("a.tar.xz", "application/x-xz"),
        ("a.txt.br", "application/octet-stream"),
    ],
)
def test_a_compressed_file_has_the_media_type_of_its_bytes(name: str, media_type: str):
    assert guess_type(name) == media_type


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (DraftPart(DATA, ""), "Enter JSON."),
        (DraftPart(DATA, " \n"), "Enter JSON."),
        (DraftPart(DATA, "{"), "Not JSON: ends within an object at line 1 column 1."),
        (DraftPart(DATA, '{\n "a": 1,\n}'), "line 3 column 1"),
        (DraftPart(DATA, "NaN"), "not JSON"),
        (DraftPart(DATA, '{"a": [-1.5e999]}'), "a number that is too large for JSON readers"),
        (DraftPart(DATA, '{"b": {"a": 1, "a": 2}}'), "This cannot be sent: the member 'a' is repeated; remove"),
        (DraftPart(DATA, "9" * 4301), "a number of more than 4,300 digits"),
        (DraftPart(DATA, "<p>"), "Not JSON: a web page or XML, not JSON."),
        (DraftPart(DATA, '"\udcff"'), "Not JSON: not UTF-8 at byte 1."),
        (DraftPart(DATA, "[" * 500), "nested deeper"),
        (DraftPart(LINK, " "), "Enter the URL of a file."),
        (DraftPart(FILE, ""), "Enter the path of a file."),
        (DraftPart(FILE, "~nobody-is-called-that/x"), "unknown user in path"),
        (DraftPart(FILE, "a\0b"), "a character that is not allowed"),
        (DraftPart(FILE, "x" * 5000), "its name is too long"),
        (DraftPart(FILE, "/dev/zero"), "/dev/zero is not a file."),
        (DraftPart(FILE, "/dev/stdin/x"), "could not be read"),
    ],
)
def test_what_cannot_be_sent_is_said_beside_its_part(part: DraftPart, words: str):
    found = problem(part)
    assert found.where == "parts/1"
    assert words in found.words


@pytest.mark.parametrize("written", ["[1]", "{", "x", '"x"', '{"a": 1e999}'])
def test_metadata_is_an_object(written: str):
    found = problem(DraftPart(TEXT, "x", metadata=written))
    assert found.where == "parts/1/metadata"
    assert found.words.startswith("The metadata ")
    composed = compose(text_draft("x", metadata=written, request_metadata=written))
    places = [problem.where for problem in composed.problems]
    assert places == ["metadata", "request_metadata"]
    for problem_of_member, where in zip(composed.problems, places, strict=True):
        assert problem_of_member.words.startswith(f"The {where.replace('_', ' ')} ")


def test_every_problem_is_named_and_none_hides_another(tmp_path: Path):
    draft = Draft((DraftPart(FILE, str(tmp_path)), DraftPart(DATA, "{")), metadata="[]")
    assert [problem.where for problem in compose(draft).problems] == ["parts/0", "parts/1", "metadata"]


def test_a_folder_a_pipe_and_a_file_that_is_gone_are_told_apart(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    said = {name: problem(DraftPart(FILE, str(tmp_path / name))).words for name in ("", "pipe", "gone", "pipe/x")}
    assert said[""] == f"{tmp_path} is a folder."
    assert said["pipe"] == f"{tmp_path / 'pipe'} is not a file."
    assert said["gone"] == f"The file {tmp_path / 'gone'} could not be read: No such file or directory."
    assert said["pipe/x"].endswith("a folder in its path is a file.")


@pytest.mark.parametrize("size", [10, 9_000_000])
def test_a_file_that_may_not_be_read_is_said_to_be_so(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "mine"
    path.touch()
    os.truncate(path, size)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # the user of the tests may be one who may read everything
    assert problem(DraftPart(FILE, str(path))).words == f"The file {path} could not be read: no permission."


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one")
    draft = Draft((DraftPart(FILE, str(path)),))
    assert compose(draft).request.message.parts[0].raw == base64.b64encode(b"one").decode()
    path.write_bytes(b"more")
    assert compose(draft).request.message.parts[0].raw == base64.b64encode(b"more").decode()


def test_a_name_that_is_not_utf_8_is_sent_as_far_as_it_is(tmp_path: Path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt"))
    path.write_bytes(b"x")
    [part] = parts(DraftPart(FILE, str(path)))
    assert part["filename"] == "caf\ufffd.txt"


def test_a_large_file_is_left_for_later_where_it_can_be(tmp_path: Path):
    path = tmp_path / "large"
    path.touch()
    os.truncate(path, LARGEST_MESSAGE + 1)
    composed = compose(Draft((DraftPart(FILE, str(path)),)))
    [file] = composed.files
    assert (file.path, file.size) == (path, LARGEST_MESSAGE + 1)
    assert composed.request.message.parts[0].raw == file.mark
    refused = problem(DraftPart(FILE, str(path)), whole=True).words
    assert refused.startswith(f"{path} has 64 MB; over gRPC a file can have at most 64 MB.")
    assert refused.endswith("Use JSON-RPC or HTTP+JSON.")


def test_over_grpc_a_file_below_the_limit_is_read_at_once(tmp_path: Path):
    path = tmp_path / "large"
    path.touch()
    os.truncate(path, 9_000_000)
    composed = compose(Draft((DraftPart(FILE, str(path)),)), whole=True)
    assert (composed.files, composed.problems) == ((), ())
    assert len(composed.request.message.parts[0].raw) == 12_000_000


def test_a_draft_says_what_it_is_about_in_a_line():
    assert text_draft("one").label == "one"
    mixed = Draft((DraftPart(TEXT, "one"), DraftPart(FILE, "/a/b.txt"), DraftPart(TEXT, "two")))
    assert mixed.label == "one two + 1 file"
    assert Draft((DraftPart(FILE, "/a/b.txt", filename="c"), DraftPart(DATA, "{}"))).label == "c, {}"
    assert Draft((DraftPart(TEXT),)).label == "text"
    assert (Draft(()).is_blank, text_draft(" \n").is_blank, mixed.is_blank) == (True, True, False)


def test_a_message_that_is_sent_again_as_another_one_has_ids_of_its_own():
    draft = text_draft("x", task_id="t")
    other = draft.with_new_ids()
    assert other.message_id != draft.message_id
    assert other.request_id != draft.request_id
    assert replace(other, message_id=draft.message_id, request_id=draft.request_id) == draft
