"""`export` and `import`: formats, files, filters and error messages."""

from __future__ import annotations

import json
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from aiohttp import web
from puppets import SECONDS, RunCli, ServerThread

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.session.exporters import CAPTURE_FORMATS


@pytest.fixture
def path(cli: RunCli, mock: str, tmp_path: Path) -> Path:
    """The capture of a stream from the mock agent."""
    path = tmp_path / "session.a2a"
    assert cli("send", "-a", mock, "--text", "report 2", "--stream", "--capture", str(path)).code == 0
    return path


def test_json_lines_are_those_of_show(cli: RunCli, path: Path):
    ran = cli("export", str(path))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == cli("show", str(path), "-o", "json").out


def test_a_filter_chooses_whole_exchanges(cli: RunCli, path: Path):
    lines = cli("export", str(path), "state:completed").lines
    assert {line["operation"] for line in lines} == {"SendStreamingMessage"}
    assert [lines[0]["kind"], lines[-1]["kind"]] == ["request", "end"]
    ran = cli("export", str(path), "state:failed")
    assert (ran.code, ran.out) == (2, "")
    assert "There is no record to export" in ran.err


def test_the_suffix_of_the_file_chooses_the_format(cli: RunCli, path: Path, tmp_path: Path):
    for form in CAPTURE_FORMATS:
        file = tmp_path / f"out{form.suffix}"
        assert cli("export", str(path), "--out", str(file)).code == 0
        assert file.read_text("utf-8") == cli("export", str(path), "--format", form.name).out
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert cli("export", str(path), "--out", str(tmp_path / "x.txt"), "-f", "har").code == 0
    assert "log" in json.loads((tmp_path / "x.txt").read_text("utf-8"))


@pytest.mark.parametrize("suffix", [".py", ".csv"])
def test_a_suffix_of_no_format_is_an_error(cli: RunCli, path: Path, tmp_path: Path, suffix: str):
    ran = cli("export", str(path), "--out", str(tmp_path / f"out{suffix}"))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"Error: No format of captures has the suffix {suffix}.\nHint: Name one with --format: ")
    assert not (tmp_path / f"out{suffix}").exists()


def test_an_existing_file_is_not_overwritten(cli: RunCli, path: Path, tmp_path: Path):
    (tmp_path / "old.har").write_text("old")
    ran = cli("export", str(path), "--out", str(tmp_path / "old.har"))
    assert ran.code == 2
    assert "exists already" in ran.err
    assert (tmp_path / "old.har").read_text() == "old"
    below = tmp_path / "old.har" / "new.har"
    assert cli("export", str(path), "--out", str(below)).err == (
        f"Error: Cannot create {below}: a folder in its path is a file.\nHint: Choose another folder or name.\n"
    )


def test_missing_folders_are_created(cli: RunCli, path: Path, tmp_path: Path):
    assert cli("export", str(path), "--out", str(tmp_path / "no" / "folder" / "new.har")).code == 0
    assert (tmp_path / "no" / "folder" / "new.har").exists()


def test_the_check_is_that_of_check_make(cli: RunCli, path: Path):
    assert cli("export", str(path), "-f", "acts").out == cli("check", "make", str(path)).out


def test_a_check_of_a_capture_that_is_being_written_has_a_warning(cli: RunCli, path: Path):
    assert "still writing" not in cli("check", "make", str(path)).err
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("BEGIN IMMEDIATE")
        ran = cli("check", "make", str(path))
    assert ran.code == 0
    assert "another process is still writing this capture: later records are missing" in ran.err


def test_a_compared_recording_of_other_requests_has_a_warning(cli: RunCli, mock: str, path: Path, tmp_path: Path):
    other, same = str(tmp_path / "other.a2a"), str(tmp_path / "same.a2a")
    assert cli("send", "-a", mock, "--text", "report 3", "--stream", "--capture", other).code == 0
    assert cli("send", "-a", mock, "--text", "report 2", "--stream", "--capture", same).code == 0
    assert "compared" not in cli("check", "make", str(path), "--compare", same).err
    ran = cli("check", "make", str(path), "--compare", other, "--compare", same)
    assert ran.code == 0
    assert "Warning: other.a2a has other requests, so that its responses were not compared\n" in ran.err
    assert "same.a2a" not in ran.err


def test_curl_commands_send_the_recorded_requests(cli: RunCli, path: Path, tmp_path: Path):
    script = tmp_path / "session.sh"
    assert cli("export", str(path), "op:SendStreamingMessage", "--out", str(script)).code == 0
    ran = subprocess.run(["/bin/sh", str(script)], capture_output=True, check=True, text=True, timeout=20)
    assert "TASK_STATE_COMPLETED" in ran.stdout


def test_curl_commands_name_the_secret_headers_that_they_lack(cli: RunCli, mock: str, tmp_path: Path):
    capture = str(tmp_path / "secret.a2a")
    secret = ("--bearer", "canary-1", "--header", "X-Api-Key: canary-2")
    assert cli("send", "-a", mock, "--text", "echo x", *secret, "--capture", capture).code == 0
    ran = cli("export", capture, "-f", "curl")
    assert "canary" not in ran.out + ran.err
    assert "# Add the secret headers: " in ran.out
    for name in ("Authorization", "X-Api-Key"):
        assert name in ran.out and name in ran.err.partition("secrets left out: ")[2]


def test_curl_commands_name_masked_values_in_the_url_and_in_the_body(cli: RunCli, tmp_path: Path):
    with Capture.create(tmp_path / "secret.a2a") as capture:
        meta = {"method": "POST", "url": "http://127.0.0.1:9/?key=****", "headers": [], "binding": "JSONRPC"}
        body = b'{"text":"****"}'
        capture.append(Kind.REQUEST, 1.0, operation="SendMessage", payloads=[(len(body), body)], meta=meta)
    ran = cli("export", str(tmp_path / "secret.a2a"), "-f", "curl")
    assert "# Replace **** in the URL and in the body.\n" in ran.out
    assert "secrets left out: values in the URL, values in the body" in ran.err


def test_a_capture_without_requests_has_no_curl_commands(cli: RunCli, tmp_path: Path):
    with Capture.create(tmp_path / "pushes.a2a") as capture:
        capture.append(Kind.DELIVERY, 1.0, payloads=[(2, b"{}")])
    ran = cli("export", str(tmp_path / "pushes.a2a"), "--out", str(tmp_path / "pushes.sh"))
    assert (ran.code, ran.out) == (2, "")
    assert "There is no request to export as a curl command." in ran.err
    assert not (tmp_path / "pushes.sh").exists()


def test_har_is_imported_and_shown(cli: RunCli, path: Path, tmp_path: Path):
    har, capture = tmp_path / "session.har", tmp_path / "again.a2a"
    assert cli("export", str(path), "--out", str(har)).code == 0
    ran = cli("import", str(har), "--capture", str(capture))
    assert (ran.code, ran.err) == (0, "")
    assert str(capture) in ran.out
    assert cli("show", str(capture), "-o", "json").out == cli("show", str(path), "-o", "json").out
    again = cli("import", str(har), "--capture", str(capture))
    assert (again.code, "exists already" in again.err) == (2, True)


def test_a_har_file_without_bodies_has_a_warning_and_accuses_no_agent(cli: RunCli, path: Path, tmp_path: Path):
    file = tmp_path / "session.har"
    assert cli("export", str(path), "--out", str(file)).code == 0
    har = json.loads(file.read_text())
    del har["log"]["_records"]
    for entry in har["log"]["entries"]:
        for extra in [name for name in entry if name.startswith("_")]:
            del entry[extra]
        if "event-stream" in entry["response"]["content"]["mimeType"]:
            del entry["response"]["content"]["text"]
    file.write_text(json.dumps(har))
    ran = cli("import", str(file), "--out", str(tmp_path / "empty.a2a"))
    assert (ran.code, ran.err) == (0, "Warning: 1 entry has no body of the response: save the HAR file with content\n")
    shown = cli("show", str(tmp_path / "empty.a2a"))
    assert "does not contain the body of the response" in shown.out
    assert "error STREAM" not in shown.out
    assert cli("import", str(file), "-o", "json").json["without_body"] == 1


def test_import_without_a_capture_creates_one(cli: RunCli, path: Path, tmp_path: Path):
    har = tmp_path / "session.har"
    assert cli("export", str(path), "--out", str(har)).code == 0
    ran = cli("import", str(har), "-o", "json")
    capture = Path(ran.json["capture"])
    assert capture.parent == tmp_path / "home" / "captures"
    assert ran.json["records"] == len(cli("show", str(capture), "-o", "json").lines)


def test_a_file_that_cannot_be_imported_leaves_no_capture(cli: RunCli, tmp_path: Path):
    capture = tmp_path / "none.a2a"
    for content, message in ((None, "Cannot read"), (b"{}", "not HAR"), (b"\xff", "not UTF-8")):
        if content is not None:
            (tmp_path / "bad.har").write_bytes(content)
        ran = cli("import", str(tmp_path / "bad.har"), "--capture", str(capture))
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err
        assert not capture.exists()
    assert cli("import", str(tmp_path / "bad.har")).code == 2
    assert not list((tmp_path / "home" / "captures").glob("*"))


def test_an_import_that_does_not_fit_on_the_disk_leaves_no_capture(cli: RunCli, mock: str, tmp_path: Path):
    sent, har, capture = (tmp_path / name for name in ("sent.a2a", "large.har", "large.a2a"))
    assert cli("send", mock, "--text", "echo " + "x" * 1_000_000, "--capture", str(sent)).code == 0
    assert cli("export", str(sent), "--out", str(har)).code == 0
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))"
    script = f"{limit}\nfrom inspector.cli.main import main\nraise SystemExit(main())"
    words = [sys.executable, "-c", script, "import", str(har), "--capture", str(capture)]
    ran = subprocess.run(words, check=False, capture_output=True, text=True, timeout=SECONDS)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"Writing to the capture {capture} stopped" in ran.stderr
    assert not list(tmp_path.glob("large.a2a*"))


def test_a_folder_that_cannot_be_created_is_an_error(cli: RunCli, path: Path):
    ran = cli("export", str(path), "--out", "/dev/null/none/session.har")
    assert (ran.code, ran.out) == (2, "")
    reason = "Cannot create the folder /dev/null/none: a folder in its path is a file."
    assert ran.err == f"Error: {reason}\nHint: Choose another folder.\n"


class Collector:
    """An OTLP endpoint: keeps the requests, and answers with `status` and `body`."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.spans: list[str] = []
        self.status = 200
        self.body: object = {}

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.paths.append(request.path)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        [resource] = json.loads(await request.read())["resourceSpans"]
        self.spans += [span["name"] for span in resource["scopeSpans"][0]["spans"]]
        return web.json_response(self.body, status=self.status)


def test_spans_are_sent_to_the_endpoint_that_the_user_names(cli: RunCli, path: Path, server_thread: ServerThread):
    collector = Collector()
    with server_thread.serve(collector.handle) as url:
        ran = cli("export", str(path), "--otlp-endpoint", url, "--otlp-header", "x-api-key: 12345678")
        assert (ran.code, ran.out, ran.err) == (0, "Sent: 1 span\n", "")
        assert cli("export", str(path), "--otlp-endpoint", f"{url}/custom/traces").code == 0
        assert collector.paths == ["/v1/traces", "/custom/traces"]
        assert collector.spans == ["SendStreamingMessage"] * 2
        assert collector.headers[0]["content-type"] == "application/json"
        assert collector.headers[0]["x-api-key"] == "12345678"
        collector.body = {"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}}
        ran = cli("export", str(path), "--otlp-endpoint", url)
        assert "rejected 1 spans: too old" in ran.err
        collector.status = 503
        ran = cli("export", str(path), "--otlp-endpoint", url)
        assert (ran.code, "status 503" in ran.err) == (1, True)
    assert cli("export", str(path), "--otlp-endpoint", url).code == 3


@pytest.mark.parametrize("url", ["localhost:4318", "ftp://x/", "http://[", "http://"])
def test_an_invalid_endpoint_is_a_usage_error(cli: RunCli, path: Path, url: str):
    ran = cli("export", str(path), "--otlp-endpoint", url)
    assert (ran.code, ran.out) == (2, "")


def test_headers_need_an_endpoint(cli: RunCli, path: Path):
    ran = cli("export", str(path), "--format", "otlp-json", "--otlp-header", "x-api-key: 12345678")
    assert (ran.code, ran.out) == (2, "")
    assert "Add --otlp-endpoint URL." in ran.err


def test_an_endpoint_has_no_other_format(cli: RunCli, path: Path, tmp_path: Path):
    for words in (("-f", "har"), ("--out", str(tmp_path / "x.json"))):
        assert cli("export", str(path), "--otlp-endpoint", "http://127.0.0.1:9", *words).code == 2
