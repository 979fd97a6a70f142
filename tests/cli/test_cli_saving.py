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


def test_uncreatable_folder_is_a_usage_error(cli: RunCli, keeper: str):
    ran = cli("task", "get", "task-1", "-a", keeper, "--save", "/proc/none")
    assert ran.code == 2
    assert "Cannot create the folder /proc/none" in ran.err
    assert "Hint: Choose another folder." in ran.err


def test_task_without_artifacts_is_a_warning(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(task("WORKING"))

    ran = cli("task", "get", "task-1", "-a", make_agent(answer).url, "--save", str(tmp_path))
    assert ran.code == 0
    assert "Warning: no artifacts to save\n" in ran.err


def test_download_saves_the_artifacts_of_a_task_and_prints_their_paths(cli: RunCli, keeper: str, tmp_path: Path):
    ran = cli("task", "download", "task-1", "-a", keeper, "--out", str(tmp_path))
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "Task: task-1",
        "Context: context-1",
        "State: completed",
        *(f"Saved: {tmp_path / name}" for name in ("report.md", "chart[2J.bin", "bad.base64")),
    ]
    assert (tmp_path / "report.md").read_bytes() == b"# Report\r\n"


def test_download_uses_the_current_folder_and_prints_the_task_as_json(
    cli: RunCli, keeper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    ran = cli("task", "download", "task-1", "-a", keeper, "-o", "json")
    assert ran.json["id"] == "task-1"
    assert (tmp_path / "report.md").read_bytes() == b"# Report\r\n"


def test_download_waits_for_the_end_of_the_task(cli: RunCli, slow_mock: str, tmp_path: Path):
    started = cli("send", slow_mock, "--text", "report 2", "--async", "-o", "json").json["task"]["id"]
    ran = cli("task", "download", started, "-a", slow_mock, "--wait", "--poll-interval", "50ms", "--out", str(tmp_path))
    assert ran.code == 0
    assert [path.suffix for path in tmp_path.iterdir()] == [".md"]
