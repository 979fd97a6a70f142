"""`listen` and `mock` as programs that a signal stops."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme
from forking import Process, Program
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet
from puppets import SECONDS, RunCli, status

from inspector.capture.paths import captures_folder
from inspector.cli.listen import _first_of


def deliver(url: str, token: str, body: object) -> int:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "X-A2A-Notification-Token": token}
    return httpx.post(url, content=content, headers=headers, timeout=SECONDS).status_code


def test_deliveries_are_printed_as_json_with_checks():
    with Program("listen", "-o", "json", "--count", "3") as program:
        where = json.loads(program.stdout.readline())["listening"]
        assert deliver(where["url"], where["token"], status("WORKING", "on it")) == 204
        assert deliver(where["url"], "wrong-token", status("COMPLETED")) == 401
        assert deliver(where["url"], where["token"], b"no json") == 204
        out, err = program.communicate(timeout=SECONDS)
    assert (program.returncode, err) == (0, "")
    good, refused, odd = [json.loads(line)["delivery"] for line in out.splitlines()]
    assert good["method"] == "POST"
    assert good["body"] == status("WORKING", "on it")
    assert (good["rejection"], good["status"], good["taskId"]) == ("", 204, "task-1")
    assert {check["name"]: check["passed"] for check in good["checks"]}["token"] is True
    assert (refused["status"], bool(refused["rejection"])) == (401, True)
    assert odd["body"] == "no json"
    assert where["token"] not in out
    assert "wrong-token" not in out


def test_deliveries_are_printed_as_fields():
    with Program("listen", "--count", "2") as program:
        url, token = (program.stdout.readline().split(": ", 1)[1].strip() for _ in range(2))
        deliver(url, token, status("INPUT_REQUIRED", "which \x1b[31mone?"))
        deliver(url, "wrong-token", status("COMPLETED"))
        out, err = program.communicate(timeout=SECONDS)
    assert (program.returncode, err) == (0, "")
    assert "accepted\n" in out
    assert "+token" in out
    assert "Task: task-1\nState: input-required\nContent: which ␛[31mone?\n" in out
    assert "rejected with 401, error PUSH-001\n" in out
    assert "Failed check: token: X-A2A-Notification-Token does not match" in out
    assert out.count("does not match") == 1
    assert "\x1b" not in out


def test_an_ipv6_address_is_printed_with_brackets():
    with Program("listen", "--host", "::1", "--timeout", "100ms") as program:
        out, _ = program.communicate(timeout=SECONDS)
    assert re.search(r"^Address: \[::1\]:\d+$", out, re.MULTILINE)


def test_a_webhook_can_be_registered_for_several_tasks_and_without_authorization():
    """The agent was not told by `listen` for which task and how to deliver."""
    with Program("listen", "-o", "json", "--count", "4") as program:
        where = json.loads(program.stdout.readline())["listening"]
        for task in ("task-1", "task-2"):
            deliver(where["url"], where["token"], status("WORKING", task=task))
        deliver(where["url"], where["token"], b"no json")
        deliver(where["url"], "wrong", {})
        out, _ = program.communicate(timeout=SECONDS)
    found = [json.loads(line)["delivery"] for line in out.splitlines()]
    assert [delivery["taskId"] for delivery in found] == ["task-1", "task-2", "", ""]
    rules = [[finding["id"] for finding in delivery["findings"]] for delivery in found]
    assert rules == [[], [], ["PUSH-003"], ["PUSH-001"]]
    checks = [{check["name"]: check["passed"] for check in delivery["checks"]} for delivery in found]
    assert [results.get("task") for results in checks] == [True, True, None, None]


def test_given_credentials_must_be_sent():
    with Program("listen", "-o", "json", "--count", "1", "--auth", "Bearer:secret") as program:
        where = json.loads(program.stdout.readline())["listening"]
        deliver(where["url"], where["token"], status("WORKING"))
        out, _ = program.communicate(timeout=SECONDS)
    assert [finding["id"] for finding in json.loads(out)["delivery"]["findings"]] == ["PUSH-004"]


def test_each_delivery_has_a_number():
    with Program("listen", "--count", "2") as program:
        url, token = (program.stdout.readline().split(": ", 1)[1].strip() for _ in range(2))
        deliver(url, token, status("WORKING"))
        deliver(url, "wrong", status("WORKING"))
        out, _ = program.communicate(timeout=SECONDS)
    assert re.findall(r"^Delivery: #(\d+) \d{4}-", out, re.MULTILINE) == ["1", "2"]


def test_verbose_shows_headers_and_body_of_a_delivery():
    with Program("listen", "--verbose", "--count", "1") as program:
        url, token = (program.stdout.readline().split(": ", 1)[1].strip() for _ in range(2))
        deliver(url, token, status("WORKING"))
        out, _ = program.communicate(timeout=SECONDS)
    assert "\nHeaders:\n  " in out
    assert '\nBody:\n  {\n    "statusUpdate"' in out
    assert token not in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_stops_listen_with_exit_code_0(number: signal.Signals):
    with Program("listen") as program:
        assert program.stdout.readline().startswith("URL: http://127.0.0.1:")
        program.send_signal(number)
        _, err = program.communicate(timeout=SECONDS)
    assert (program.returncode, err) == (0, "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_before_all_deliveries_is_an_interruption(number: signal.Signals, code: int):
    with Program("listen", "--count", "2", "-o", "json") as program:
        where = json.loads(program.stdout.readline())["listening"]
        deliver(where["url"], where["token"], status("WORKING"))
        program.stdout.readline()
        program.send_signal(number)
        _, err = program.communicate(timeout=SECONDS)
    assert program.returncode == code
    assert err == "Interrupted: 1 of 2 deliveries arrived\n"


def test_last_delivery_gets_the_fail_response():
    with Program("listen", "--count", "1", "--fail", "503@0.5s", "-o", "json") as program:
        where = json.loads(program.stdout.readline())["listening"]
        began = time.monotonic()
        assert deliver(where["url"], where["token"], status("WORKING")) == 503
        assert time.monotonic() - began >= 0.5
        program.communicate(timeout=SECONDS)
    assert program.returncode == 0


def test_failed_tls_handshake_is_printed_but_not_counted(tmp_path: Path):
    both = tmp_path / "both.pem"
    both.write_bytes(trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.bytes())
    with Program("listen", "--cert", str(both), "--count", "1") as program:
        url = program.stdout.readline().split(": ", 1)[1].strip()
        with pytest.raises(httpx.ConnectError):
            httpx.post(url, timeout=SECONDS)
        out = ""
        while "Delivery: " not in out:
            line = program.stdout.readline()
            assert line, out
            out += line
        program.send_signal(signal.SIGINT)
        rest, err = program.communicate(timeout=SECONDS)
    out += rest
    assert err == "Interrupted: 0 of 1 deliveries arrived\n"
    assert "Error: The sender does" in out or "Wrong: The sender left" in out
    assert "Checks: \n" not in out
    assert program.returncode == 130


@pytest.mark.parametrize("words", [(), ("--debug",)])
def test_deliveries_are_answered_while_nobody_reads_the_output(words: tuple[str, ...]):
    count, text = 40, "x" * 5_000  # more than a pipe holds
    with Program("listen", "-o", "json", "--count", str(count), *words) as program:
        where = json.loads(program.stdout.readline())["listening"]
        codes = [deliver(where["url"], where["token"], status("WORKING", f"{n} {text}")) for n in range(count)]
        out, err = program.communicate(timeout=SECONDS)
    assert codes == [204] * count
    texts = [line["delivery"]["body"]["statusUpdate"]["status"]["message"]["parts"][0]["text"] for line in lines(out)]
    assert texts == [f"{n} {text}" for n in range(count)]
    logged = dict.fromkeys(int(number) for number in re.findall(r"(\d+) xxx", err))  # in the summary and the payload
    assert list(logged) == (list(range(count)) if words else [])
    assert program.returncode == 0


@pytest.mark.parametrize("words", [(), ("--debug",)])
def test_the_second_signal_ends_the_command_although_nobody_reads_the_output(words: tuple[str, ...]):
    with Program("listen", "-o", "json", *words) as program:
        where = json.loads(program.stdout.readline())["listening"]
        for _ in range(20):
            deliver(where["url"], where["token"], status("WORKING", "x" * 5_000))
        program.send_signal(signal.SIGINT)
        with pytest.raises(httpx.HTTPError):  # it has stopped listening, and waits for the reader
            while True:
                httpx.get(where["url"], timeout=SECONDS)
        program.send_signal(signal.SIGINT)
        assert program.wait(timeout=SECONDS) == 0


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_the_command_ends_when_the_reader_of_its_output_has_left(name: str):
    with Program("listen", "-o", "json", "--debug") as program:
        where = json.loads(program.stdout.readline())["listening"]
        getattr(program, name).close()
        assert deliver(where["url"], where["token"], status("WORKING")) == 204
        assert program.wait(timeout=SECONDS) == 141


def test_an_error_while_the_command_ends_is_not_lost():
    async def fail() -> None:
        raise ValueError("the rest was not printed")

    with pytest.raises(ValueError, match="the rest was not printed"):
        asyncio.run(_first_of(fail(), asyncio.Event().wait()))
    asyncio.run(_first_of(asyncio.sleep(0), asyncio.Event().wait()))


def test_the_output_can_be_a_file(tmp_path: Path):
    with (tmp_path / "output").open("w+") as file:
        program = Process(("listen", "--timeout", "50ms", "-o", "json"), (file.fileno(),) * 3)
        assert program.wait() == 0
        program.close()
        file.seek(0)
        assert json.loads(file.read())["listening"]["url"].startswith("http://127.0.0.1:")


def test_doctor_reads_deliveries_of_an_earlier_listen(cli: RunCli, slow_mock: str):
    task_id = cli("send", "-a", slow_mock, "--text", "long 60", "--async", "-o", "json").json["task"]["id"]
    with Program("listen", "-o", "json", "--count", "1") as program:
        where = json.loads(program.stdout.readline())["listening"]
        cli("push", "set", task_id, "--url", where["url"], "--token", where["token"], "-a", slow_mock)
        cli("task", "cancel", task_id, "-a", slow_mock)
        out, _ = program.communicate(timeout=SECONDS)
    assert lines(out)[0]["delivery"]["taskId"] == task_id
    for number in range(30):
        (captures_folder() / f"newer-{number}.a2a").write_bytes(b"not a capture")
    assert cli("doctor", slow_mock, "--push", task_id, "-o", "json").json["accepted"] == 1


def test_capture_without_deliveries_is_deleted(cli: RunCli):
    ran = cli("listen", "--timeout", "50ms", "-o", "json")
    assert not Path(ran.lines[0]["listening"]["capture"]).exists()


@pytest.mark.parametrize(
    "body", [b'{"a": 1, "a": 2}', b'{"a": 1e999}', b'{"a": "\xff"}'], ids=["twice", "infinite", "not UTF-8"]
)
def test_body_that_json_cannot_express_is_a_string(body: bytes):
    with Program("listen", "-o", "json", "--count", "1") as program:
        where = json.loads(program.stdout.readline())["listening"]
        deliver(where["url"], where["token"], body)
        out, _ = program.communicate(timeout=SECONDS)
    [line] = out.splitlines()
    assert "Infinity" not in line
    assert json.loads(line)["delivery"]["body"] == body.decode("utf-8", "replace")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_stops_the_mock_agent_with_exit_code_0(number: signal.Signals):
    with Program("mock", "--pace", "0") as program:
        url = program.stdout.readline().strip()
        assert httpx.get(f"{url}/.well-known/agent-card.json", timeout=SECONDS).json()["name"] == "Mock Agent"
        program.send_signal(number)
        _, err = program.communicate(timeout=SECONDS)
    assert (program.returncode, err) == (0, "")


@pytest.mark.parametrize("command", ["listen", "mock"])
def test_port_in_use_is_an_error(cli: RunCli, command: str):
    with socket.create_server(("127.0.0.1", 0)) as other:
        ran = cli(command, "--port", str(other.getsockname()[1]))
    assert (ran.code, ran.out) == (2, "")
    assert "in use" in ran.err
    assert "\nHint: " in ran.err


@pytest.mark.parametrize("command", ["listen", "mock"])
def test_address_of_another_machine_is_an_error(cli: RunCli, command: str):
    ran = cli(command, "--host", "192.0.2.1")
    assert ran.code == 2
    assert "Traceback" not in ran.err


def test_timeout_fails_only_with_count(cli: RunCli):
    assert cli("listen", "--timeout", "50ms").code == 0
    ran = cli("listen", "--timeout", "50ms", "--count", "1", "-o", "json")
    assert ran.code == 5
    assert ran.error["code"] == "A2ACLI_ERR_TIMEOUT"


def test_public_url_is_registered(cli: RunCli):
    ran = cli("listen", "--timeout", "50ms", "--public-url", "https://tunnel.example/hook", "-o", "json")
    assert ran.lines[0]["listening"]["url"].startswith("https://tunnel.example/hook/")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_while_waiting_prints_the_task(slow_mock: str, number: signal.Signals, code: int):
    with Program("send", "-a", slow_mock, "--text", "long 60", "--stream", "-o", "json") as program:
        task_id = json.loads(program.stdout.readline())["task"]["id"]
        program.send_signal(number)
        out, err = program.communicate(timeout=SECONDS)
    assert program.returncode == code
    assert err.startswith(f"Interrupted: task {task_id}, context ")
    assert f"Follow: a2a-inspect task get {task_id} --wait" in err
    assert all(json.loads(line) for line in out.splitlines())


# Authentication, responses and forwarding


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_fail_option_sets_responses_and_retries_are_measured():
    with Program("listen", "-o", "json", "--count", "3", "--fail", "500:1", "--fail", "429/7:1") as program:
        where = json.loads(program.stdout.readline())["listening"]
        assert where["responses"] == "500, 1 more; 429, retry after 7 s, 1 more"
        statuses = [deliver(where["url"], where["token"], status("WORKING")) for _ in range(3)]
        out, err = program.communicate(timeout=SECONDS)
    assert (statuses, program.returncode, err) == ([500, 429, 204], 0, "")
    *delivered, retries = lines(out)
    assert [line["delivery"]["attempt"] for line in delivered] == [1, 2, 3]
    assert [line["delivery"]["accepted"] for line in delivered] == [False, False, True]
    first = delivered[0]["delivery"]["seq"]
    assert [line["delivery"]["retryOf"] for line in delivered] == [None, first, first]
    assert retries["retries"]["responses"] == ["500", "429, retry after 7 s", "204"]
    assert (retries["retries"]["retryOf"], retries["retries"]["accepted"]) == (first, True)


def test_retries_are_printed_as_text():
    with Program("listen", "--count", "2", "--fail", "503:1") as program:
        url, token = (program.stdout.readline().split(": ", 1)[1].strip() for _ in range(2))
        for _ in range(2):
            deliver(url, token, status("WORKING"))
        out, _ = program.communicate(timeout=SECONDS)
    assert "responded 503, retry after 1 s (--fail)" in out
    assert re.search(r"Attempt: 2, [\d.]+ m?s after attempt 1; the first is #\d", out)
    assert re.search(r"1 retry, after [\d.]+ m?s, ", out)
    assert "Order:" not in out


def test_a_repeated_delivery_is_printed_as_a_replay():
    with Program("listen", "--count", "2") as program:
        url, token = (program.stdout.readline().split(": ", 1)[1].strip() for _ in range(2))
        for _ in range(2):
            deliver(url, token, status("WORKING"))
        out, _ = program.communicate(timeout=SECONDS)
    assert re.search(r"Order: replay: the same bytes came as #\d, which was accepted", out)
    assert out.count("Order:") == 1


@pytest.mark.parametrize(
    ("words", "headers", "code"),
    [
        (["--token", "my-token"], {"X-A2A-Notification-Token": "my-token"}, 204),
        (["--auth", "Basic:me:secret"], {"Authorization": "Basic bWU6c2VjcmV0"}, 204),
        (["--auth", "Basic:me:secret"], {"Authorization": "Basic x"}, 401),
        (["--auth", "ApiKey:my-key"], {"X-API-Key": "my-key"}, 204),
        (["--auth", "Basic:me:secret", "--token", "my-token"], {"Authorization": "Basic bWU6c2VjcmV0"}, 401),
        (["--auth", "Basic:me:secret", "--token", "my-token"], {"X-A2A-Notification-Token": "my-token"}, 401),
        (["--auth", "HMAC:my-secret"], {"X-Signature": "0" * 64}, 401),
    ],
)
def test_required_authentication_decides(words: list[str], headers: dict[str, str], code: int):
    with Program("listen", "-o", "json", "--count", "1", *words) as program:
        where = json.loads(program.stdout.readline())["listening"]
        sent = {"Content-Type": "application/json", **headers}
        answer = httpx.post(where["url"], content=json.dumps(status("WORKING")), headers=sent, timeout=SECONDS)
        out, _ = program.communicate(timeout=SECONDS)
    assert answer.status_code == code
    assert not any(secret in out for secret in ("me:secret", "bWU6c2VjcmV0", "my-key", "my-secret"))


def test_jwt_is_verified_with_the_keys_of_a_file(tmp_path: Path):
    key = ECKey.generate_key("P-256", {"kid": "k"})
    (tmp_path / "jwks.json").write_text(json.dumps(KeySet([key]).as_dict(private=False)))
    words = ("--jwks", str(tmp_path / "jwks.json"), "--issuer", "agent", "--audience", "me")
    with Program("listen", "-o", "json", "--count", "2", *words) as program:
        where = json.loads(program.stdout.readline())["listening"]
        assert where["authentication"] == "Bearer JWT from agent for me"
        claims = {"iss": "agent", "aud": "me", "exp": int(time.time()) + 60}
        codes = []
        for audience in ("me", "you"):
            made = jwt.encode({"alg": "ES256", "kid": "k"}, claims | {"aud": audience}, key)
            sent = {"Content-Type": "application/json", "Authorization": f"Bearer {made}"}
            codes.append(httpx.post(where["url"], content=b"{}", headers=sent, timeout=SECONDS).status_code)
        out, _ = program.communicate(timeout=SECONDS)
    assert codes == [204, 401]
    bad = {check["name"]: check["message"] for check in lines(out)[1]["delivery"]["checks"] if check["passed"] is False}
    assert bad == {"audience": "aud 'you', expected 'me'"}


def test_accepted_deliveries_are_forwarded_before_exit():
    with Program("listen", "-o", "json", "--count", "1") as handler:
        mine = json.loads(handler.stdout.readline())["listening"]
        words = ("--forward", mine["url"], "--token", mine["token"])
        with Program("listen", "-o", "json", "--count", "1", *words) as program:
            where = json.loads(program.stdout.readline())["listening"]
            assert deliver(where["url"], where["token"], status("WORKING", "on it")) == 204
            out, _ = program.communicate(timeout=SECONDS)
        delivered, _ = handler.communicate(timeout=SECONDS)
    assert lines(out)[-1]["forwarded"]["status"] == 204
    assert lines(delivered)[0]["delivery"]["body"] == status("WORKING", "on it")


@pytest.mark.parametrize(
    "words",
    [
        ["--fail", "sometimes"],
        ["--fail", "700"],
        ["--issuer", "me"],
        ["--jwks", "nowhere.json"],
        ["--auth", "Bearer"],
        ["--auth", "Bearer:a", "--jwks", "nowhere.json"],
        ["--forward", "ftp://me"],
        ["--cert", "nowhere.pem"],
    ],
)
def test_contradicting_options_are_usage_errors(cli: RunCli, words: list[str]):
    ran = cli("listen", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Error: ")


def test_slow_forward_url_does_not_block_exit():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with Program("listen", "-o", "json", "--forward", f"http://127.0.0.1:{port}/") as program:
            where = json.loads(program.stdout.readline())["listening"]
            for number in range(4):
                assert deliver(where["url"], where["token"], status("WORKING", f"{number}")) == 204
                program.stdout.readline()
            began = time.monotonic()
            program.send_signal(signal.SIGINT)
            while True:
                try:
                    deliver(where["url"], where["token"], status("COMPLETED"))
                except httpx.TransportError:
                    break  # it accepts no more
                assert time.monotonic() - began < SECONDS
            program.send_signal(signal.SIGINT)
            _, err = program.communicate(timeout=SECONDS)
    assert program.returncode == 0
    assert "deliveries were not forwarded" in err
