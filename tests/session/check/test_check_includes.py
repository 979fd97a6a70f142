"""Check files that include others, and files that cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from check_files import (
    HEAD,
    problems_of_files,
    yaml_of,
)

from inspector.session.check.reading import MOST_BYTES, read_check_files
from inspector.session.check.source import CheckFileError


def test_files_that_are_not_utf8_have_a_position(tmp_path: Path):
    assert problems_of_files(tmp_path, a=b"acts_version: '1.0'\nx: \xff") == ["a.yaml:2:4: not UTF-8"]


def test_a_byte_order_mark_is_ignored(tmp_path: Path):
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbf" + yaml_of("A").encode())
    assert len(read_check_files([tmp_path / "a.yaml"])) == 1


def test_a_large_file_is_not_read(tmp_path: Path):
    with (tmp_path / "a.yaml").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(CheckFileError, match=r"a\.yaml: larger than 4 MB"):
        read_check_files([tmp_path / "a.yaml"])


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda path: None, "cannot be read: No such file or directory"),
        (lambda path: path.mkdir(), "cannot be read: Is a directory"),
        (lambda path: path.symlink_to(path), "cannot be read: Too many levels of symbolic links"),
    ],
)
def test_what_is_not_a_file_is_reported(make: Any, problem: str, tmp_path: Path):
    make(tmp_path / "b.yaml")
    assert problems_of_files(tmp_path, a=yaml_of("A", include=["b.yaml"])) == [
        f"a.yaml:3:3: include: b.yaml: {problem}"
    ]


def test_the_name_of_an_included_file_may_not_have_a_null(tmp_path: Path):
    [problem] = problems_of_files(tmp_path, a=yaml_of("A", include=["b\0.yaml"]))
    assert problem.startswith("a.yaml:3:3: include: b\0.yaml: cannot be read: ")
    assert "embedded null" in problem


def test_included_files_are_read_once_in_their_order(tmp_path: Path):
    (tmp_path / "sub").mkdir()
    for name, include in {"a": ["sub/b.yaml", "c.yaml"], "sub/b": ["../c.yaml"], "c": []}.items():
        (tmp_path / f"{name}.yaml").write_text(yaml_of(name, include=include) if include else yaml_of(name))
    files = read_check_files([tmp_path / "a.yaml", tmp_path / "c.yaml"])
    assert [file.document.suites[0].id for file in files] == ["a", "sub/b", "c"]


def test_a_file_may_only_include_others(tmp_path: Path):
    (tmp_path / "a.yaml").write_text(HEAD + "include: [b.yaml]\n")
    (tmp_path / "b.yaml").write_text(yaml_of("B"))
    assert [file.path.name for file in read_check_files([tmp_path / "a.yaml"])] == ["b.yaml"]


def test_a_file_that_includes_itself_is_reported(tmp_path: Path):
    (tmp_path / "b.yaml").write_text(yaml_of("B", include=["a.yaml"]))
    assert problems_of_files(tmp_path, a=yaml_of("A", include=["b.yaml"])) == [
        "b.yaml:3:3: include: a.yaml: the file includes itself"
    ]


def test_the_problems_of_all_files_are_reported(tmp_path: Path):
    (tmp_path / "b.yaml").write_text("[]")
    problems = problems_of_files(tmp_path, a=yaml_of("A", include=["b.yaml", "c.yaml"]))
    assert problems == [
        "b.yaml:1:1: a check file is a mapping with acts_version, spec_version, suites",
        "a.yaml:4:3: include: c.yaml: cannot be read: No such file or directory",
    ]


def test_an_id_that_is_used_twice_is_reported_with_both_places(tmp_path: Path):
    (tmp_path / "b.yaml").write_text(yaml_of("A"))
    [problem] = problems_of_files(tmp_path, a=yaml_of("A", include=["b.yaml"]))
    assert problem == "b.yaml:7:5: the id 'A' is used twice; the first is in a.yaml"


def test_variables_are_inherited_from_including_files(tmp_path: Path):
    (tmp_path / "b.yaml").write_text(yaml_of("B", variables={"y": "own"}))
    (tmp_path / "a.yaml").write_text(yaml_of("A", include=["b.yaml"], variables={"x": "1", "y": "2"}))
    first, second = read_check_files([tmp_path / "a.yaml"])
    assert first.variables == {"x": "1", "y": "2"}
    assert second.variables == {"x": "1", "y": "own"}


def test_the_number_of_included_files_is_limited(tmp_path: Path):
    for number in range(250):
        (tmp_path / f"{number}.yaml").write_text(HEAD + f"include: [{number + 1}.yaml]\n")
    with pytest.raises(CheckFileError, match="more than 200 files are included"):
        read_check_files([tmp_path / "0.yaml"])


@pytest.mark.parametrize("name", ["/etc/passwd", "../.env", "secrets.yaml.txt", ""])
def test_only_files_with_the_name_of_a_check_file_are_included(name: str, tmp_path: Path):
    [problem] = problems_of_files(tmp_path, a=yaml_of("A", include=[name]))
    assert problem.startswith(f"a.yaml:3:3: {name!r} is not the name of a check file")


def test_the_content_of_another_file_is_not_quoted(tmp_path: Path):
    (tmp_path / "b.yaml").write_text("token: secret-word\nsecret-key: 1\n")
    assert problems_of_files(tmp_path, a=yaml_of("A", include=["b.yaml"])) == [
        "b.yaml:1:1: not a check file: the key acts_version is missing"
    ]
