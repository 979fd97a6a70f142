from __future__ import annotations

import base64
from pathlib import Path

import pytest
from aiohttp import web
from puppets import Call, MakeAgent, RunCli, task

ARTIFACTS = [
    {"artifactId": "a", "name": "../../report.md", "parts": [{"text": "# Report\r\n"}]},
    {"artifactId": "b", "name": "chart\x1b[2J", "parts": [{"raw": base64.b64encode(b"\x00\xff").decode()}]},
    {"artifactId": "c", "name": "bad", "parts": [{"raw": "no base64!"}]},
]


@pytest.fixture
def keeper(make_agent: MakeAgent) -> str:
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(task("COMPLETED", artifacts=ARTIFACTS))

    return make_agent(answer).url


def test_artifacts_are_saved_under_safe_names(cli: RunCli, keeper: str, tmp_path: Path):
    folder = tmp_path / "out"
    ran = cli("task", "get", "task-1", "-a", keeper, "--save", str(folder))
    assert ran.code == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "report.md": b"# Report\r\n",
        "chart[2J.bin": b"\x00\xff",
        "bad.base64": b"no base64!",
    }
    assert f"\nSaved: {folder / 'report.md'}\n" in ran.out
    assert "Warning: bad.base64: the content is not base64; it is saved as it is\n" in ran.err


def test_saving_again_keeps_existing_files(cli: RunCli, keeper: str, tmp_path: Path):
    (tmp_path / "report.md").write_text("mine")
    assert cli("task", "get", "task-1", "-a", keeper, "--save", str(tmp_path)).code == 0
    assert (tmp_path / "report.md").read_text() == "mine"
    assert (tmp_path / "report-2.md").read_bytes() == b"# Report\r\n"


def test_saved_paths_are_on_stderr_with_json(cli: RunCli, keeper: str, tmp_path: Path):
    ran = cli("task", "get", "task-1", "-a", keeper, "--save", str(tmp_path), "-o", "json")
    assert ran.json["id"] == "task-1"
    assert f"Saved: {tmp_path / 'report.md'}\n" in ran.err


def test_uncreatable_folder_is_a_usage_error(cli: RunCli, keeper: str, tmp_path: Path):
    (tmp_path / "file").touch()
    ran = cli("task", "get", "task-1", "-a", keeper, "--save", str(tmp_path / "file"))
    assert ran.code == 2
    assert "Cannot save" in ran.err
    assert "Hint: Choose another folder with --save." in ran.err


def test_task_without_artifacts_is_a_warning(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(task("WORKING"))

    ran = cli("task", "get", "task-1", "-a", make_agent(answer).url, "--save", str(tmp_path))
    assert ran.code == 0
    assert "Warning: no artifacts to save\n" in ran.err
