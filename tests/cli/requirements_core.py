"""The requirements of tier 1 of the a2a-cli specification 0.2, each with a check on the built-in mock agent."""

from __future__ import annotations

import json
import uuid

from aiohttp import web
from puppets import CARD_PATH, Call, chunk, task
from requirement_bench import Bench, Requirement, fields
from time_limit import TimeLimit

BINDINGS = ("JSONRPC", "HTTP+JSON", "GRPC")
SECRET = "open-sesame"


def card_get(bench: Bench) -> None:
    host = bench.run("card", "get", bench.mock, "-o", "json").json
    card = bench.run("card", "get", "-a", f"{bench.mock}{CARD_PATH}", "-o", "json").json
    file = bench.run("card", "get", "-a", f"file://{bench.card()}").out
    assert host == card
    assert "JSONRPC 1.0 (in use: preferred)" in file


def send_starts(bench: Bench) -> None:
    assert "task" in bench.run("send", bench.mock, "--text", "report 2", "-o", "json").json


def send_waits(bench: Bench) -> None:
    waited = bench.run("send", bench.slow_mock, "--text", "report 2", "-o", "json").json["task"]
    assert waited["status"]["state"] == "TASK_STATE_COMPLETED"
    for alias in ("--async", "--return-immediately", "--no-wait"):
        begun = bench.run("send", bench.slow_mock, "--text", "long", alias, "-o", "json").json["task"]
        assert begun["id"]
        assert begun["status"]["state"] in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")


def send_streams(bench: Bench) -> None:
    assert len(bench.run("send", bench.mock, "--text", "report 2", "--stream", "-o", "json").lines) > 2
    [message] = bench.run("send", bench.mock, "--text", "echo hi", "--stream", "-o", "json").lines
    assert message.keys() == {"message"}
    ran = bench.run("send", bench.card(capabilities={}), "--text", "echo hi", "--stream", "-o", "json")
    assert "does not declare streaming" in ran.err


def send_renders(bench: Bench) -> None:
    out = bench.run("send", bench.mock, "--text", "mixed").out
    assert "Text:\n  A plain sentence." in out
    assert '  "unit": "kg"' in out
    assert "File: sunrise.png, image/png, 4,946 bytes" in out
    assert "File: specification.html, text/html, https://" in out


def media_type(bench: Bench) -> None:
    file = bench.folder / "note.md"
    file.write_text("# Note")
    words = ("send", bench.mock, "--file", str(file))
    show = ("--preview", "json")
    [given] = message(bench, *words, "--media-type", "application/pdf", *show)["parts"]
    [inferred] = message(bench, *words, *show)["parts"]
    assert (given["mediaType"], inferred["mediaType"]) == ("application/pdf", "text/markdown")
    bench.run("send", bench.mock, "--media-type", "text/plain", code=2)


def message(bench: Bench, *words: str, stdin: bytes = b"") -> dict[str, object]:
    """Return the message that a command would send."""
    sent: dict[str, object] = bench.run(*words, stdin=stdin).json["params"]["message"]
    return sent


def part_order(bench: Bench) -> None:
    words = ("send", bench.mock, "--text", "a", "--data", "-", "--text", "b", "--file", "https://x.example/y")
    parts = message(bench, *words, "--preview", "json", stdin=b'{"n": 1}')["parts"]
    assert isinstance(parts, list)
    assert [next(name for name in ("text", "data", "url") if name in part) for part in parts] == [
        "text",
        "data",
        "text",
        "url",
    ]


def task_get(bench: Bench) -> None:
    made = bench.task("report 2")
    got = bench.run("task", "get", made["id"], "-a", bench.mock, "--history", "1", "-o", "json").json
    assert got["artifacts"]
    assert len(got["history"]) == 1
    assert "Artifact: report.md\nText:\n" in bench.run("task", "get", made["id"], "-a", bench.mock).out


def task_cancel(bench: Bench) -> None:
    begun = bench.task("long", bench.slow_mock, "--async")
    ended = bench.run("task", "cancel", begun["id"], "-a", bench.slow_mock)
    assert "State: canceled\n" in ended.out
    again = bench.run("task", "cancel", begun["id"], "-a", bench.slow_mock, "-o", "json", code=1)
    assert again.error["code"] == "TaskNotCancelableError"


def continues_context(bench: Bench) -> None:
    first = bench.task("report 2")
    words = ("send", bench.mock, "--text", "report 2", "--context-id", first["contextId"], "-o", "json")
    second = bench.run(*words).json["task"]
    assert second["contextId"] == first["contextId"]
    assert second["id"] != first["id"]


def continues_task(bench: Bench) -> None:
    asked, other = bench.task("ask"), bench.task("ask")
    words = ("send", bench.mock, "--text", "blue", "--task-id", asked["id"])
    mixed = bench.run(*words, "--context-id", other["contextId"], "-o", "json", code=1)
    assert "--debug" in mixed.error["hint"]
    done = bench.run(*words, "-o", "json").json["task"]
    assert (done["id"], done["status"]["state"]) == (asked["id"], "TASK_STATE_COMPLETED")
    unknown = bench.run("send", bench.mock, "--text", "x", "--task-id", "no-such-task", "-o", "json", code=1)
    assert unknown.error["code"] == "TaskNotFoundError"
    assert "--debug" in unknown.error["hint"]


def invents_nothing(bench: Bench) -> None:
    sent = message(bench, "send", bench.mock, "--text", "hi", "--preview", "json")
    assert not {"taskId", "contextId"} & sent.keys()


def reports_identifiers(bench: Bench) -> None:
    out = bench.run("send", bench.mock, "--text", "ask").out
    named = dict(fields(out))
    assert named["State"] == "input-required"
    assert named["Context"]
    assert f"send --task-id {named['Task']}" in named["Resume"]


def is_stateless(bench: Bench) -> None:
    first, second = (bench.run("send", bench.mock, "--text", "report 2", "-o", "json").json["task"] for _ in range(2))
    assert first["contextId"] != second["contextId"]
    bench.run("send", bench.mock, "--text", "x", "--continue", code=2)


def polls(bench: Bench) -> None:
    running = bench.task("long", bench.slow_mock, "--async")
    once = bench.run("task", "get", running["id"], "-a", bench.slow_mock, "-o", "json").json
    assert once["status"]["state"] != "TASK_STATE_COMPLETED"
    begun = bench.task("report 2", bench.slow_mock, "--async")
    words = ("task", "get", begun["id"], "-a", bench.slow_mock, "--wait", "--poll-interval", "100ms", "-o", "json")
    assert bench.run(*words).json["status"]["state"] == "TASK_STATE_COMPLETED"


def polls_in_limits(bench: Bench) -> None:
    identity, polls = str(uuid.uuid4()), 0

    async def answer(call: Call) -> web.StreamResponse:
        nonlocal polls
        polls += 1
        if polls == 2:  # the client has read the task
            limit.end()
        return call.result(task("WORKING", id=identity))

    words = ("task", "get", identity, "-a", bench.make_agent(answer).url, "--wait", "--poll-interval", "100ms")
    with TimeLimit() as limit:
        ran = bench.run(*words, "--timeout", "500ms", "-o", "json", code=5)
    assert ran.error["code"] == "A2ACLI_ERR_TIMEOUT"
    assert identity in ran.error["message"]
    bench.run(*words[:-1], "0s", code=2)


def polls_until_interrupted(bench: Bench) -> None:
    asked = bench.task("ask")
    ran = bench.run("task", "get", asked["id"], "-a", bench.mock, "--wait", "-o", "json")
    assert ran.json["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    states = ["UNSPECIFIED", "UNSPECIFIED", "COMPLETED"]

    async def answer(call: Call) -> web.StreamResponse:
        return call.result(task(states.pop(0)))

    words = ("--wait", "--poll-interval", "10ms", "-o", "json")
    ended = bench.run("task", "get", "task-1", "-a", bench.make_agent(answer).url, *words)
    assert ended.json["status"]["state"] == "TASK_STATE_COMPLETED"


def polls_after_stream(bench: Bench) -> None:
    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] == "GetTask":
            return call.result(task("COMPLETED"))
        return await call.stream({"task": task("WORKING")}, chunk("a"), breaks_off=True)

    url = bench.make_agent(answer).url
    ran = bench.run("send", url, "--text", "x", "--stream", "--poll-interval", "10ms", "-o", "json")
    assert ran.lines[-1]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert "polled" in ran.err


def standard_output(bench: Bench) -> None:
    ran = bench.run("send", bench.mock, "--text", "report 2", "--debug")
    assert {"Task", "Context", "State"} <= dict(fields(ran.out)).keys()
    assert "SendMessage" in ran.err
    as_json = bench.run("send", bench.mock, "--text", "report 2", "--debug", "-o", "json")
    assert {"id", "contextId", "status"} <= as_json.json["task"].keys()
    lines = bench.run("send", bench.mock, "--text", "report 2", "--stream", "-o", "json").lines
    assert {"taskId", "contextId", "status"} <= lines[-1]["statusUpdate"].keys()


def one_document(bench: Bench) -> None:
    ran = bench.run("send", bench.mock, "--text", "report 2", "-o", "json", A2ACLI_STREAM="1")
    assert ran.json.keys() == {"task"}
    assert ran.json["task"]["status"]["state"] == "TASK_STATE_COMPLETED"


def json_lines(bench: Bench) -> None:
    lines = bench.run("send", bench.mock, "--text", "report 2", "--stream", "-o", "json").lines
    assert lines[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    failed = bench.run("task", "subscribe", "no-such-task", "-a", bench.mock, "--stream", "-o", "json", code=1)
    assert failed.lines[-1]["error"]["code"] == "TaskNotFoundError"


def error_names(bench: Bench) -> None:
    errors = [
        bench.run("task", "get", "no-such-task", "-a", bench.mock, "--transport", binding, "-o", "json", code=1).error
        for binding in BINDINGS
    ]
    assert errors[0] == errors[1] == errors[2]
    assert (errors[0]["code"], errors[0]["a2aCode"]) == ("TaskNotFoundError", -32001)
    local = bench.run("task", "get", "-o", "json", code=2).error
    assert (local["code"], local["a2aCode"]) == ("A2ACLI_ERR_USAGE", None)
    assert errors[0]["hint"]
    assert local["hint"]


def text_floor(bench: Bench) -> None:
    for text in ("mixed", "ask", "report 2"):
        out = bench.run("send", bench.mock, "--text", text).out
        assert "\x1b" not in out
        assert list(fields(out))
    last = bench.run("send", bench.mock, "--text", "report 2", "--stream").out.splitlines()[-3:]
    assert [line.partition(":")[0] for line in last] == ["Task", "Context", "State"]
    assert bench.run("chat", bench.mock).out == ""


def result_without_waiting(bench: Bench) -> None:
    begun = bench.run("send", bench.slow_mock, "--text", "long", "--async", "-o", "json").json["task"]
    assert begun["id"]
    assert begun["contextId"]


def exit_codes(bench: Bench) -> None:
    bench.run("task", "get", "no-such-task", "-a", bench.mock, code=1)
    bench.run("send", bench.mock, code=2)
    for words, code, name in (
        (("-a", "http://127.0.0.1:9"), 3, "A2ACLI_ERR_UNREACHABLE"),
        (("-a", "none.json"), 3, "A2ACLI_ERR_CARD_NOT_FOUND"),
        (("-a", bench.agent("bearer")), 4, "A2ACLI_ERR_CREDENTIALS_MISSING"),
        (("-a", bench.slow_mock, "--timeout", "300ms"), 5, "A2ACLI_ERR_TIMEOUT"),
    ):
        ran = bench.run("send", "--text", "long", *words, "-o", "json", code=code)
        assert json.loads(ran.err.splitlines()[-1])["error"]["code"] == name


def outcomes(bench: Bench) -> None:
    for text, state in (("fail", "FAILED"), ("reject", "REJECTED"), ("ask", "INPUT_REQUIRED")):
        ran = bench.run("send", bench.mock, "--text", text, "-o", "json")
        assert ran.json["task"]["status"]["state"] == f"TASK_STATE_{state}"
        assert "Warning: the task " in ran.err


def credentials(bench: Bench) -> None:
    bearer, key = bench.agent("bearer"), bench.agent("api-key:query")
    words = ("--text", "echo hi")
    bench.run("send", bearer, *words, "--bearer", SECRET)
    bench.run("send", key, *words, "--api-key", SECRET)
    bench.run("send", bearer, *words, A2ACLI_BEARER=SECRET)

    async def answer(call: Call) -> web.StreamResponse:
        return call.result({"task": task("COMPLETED")})

    agent = bench.make_agent(answer)
    bench.run("send", agent.url, *words, "--svc-param", "X-Trace: 1")
    assert agent.calls[-1].request.headers["X-Trace"] == "1"
    text = " ".join(bench.run("send", "--help").out.split())
    assert "--svc-param 'NAME: VALUE' send a service parameter" in text


def credential_variables(bench: Bench) -> None:
    bench.run("send", bench.agent("api-key:header"), "--text", "echo hi", A2ACLI_API_KEY=SECRET)
    refused = bench.run("send", bench.agent("bearer"), "--text", "hi", "--bearer", "x", code=4, A2ACLI_BEARER=SECRET)
    assert "rejected" in refused.err
    text = " ".join(bench.run("send", "--help").out.split())
    assert "list of processes" in text
    assert "history, but not A2ACLI_BEARER" in text


def insecure(bench: Bench) -> None:
    ran = bench.run("send", bench.mock, "--text", "echo hi", "--bearer", "x", "--insecure")
    assert "Warning: TLS certificates are not verified" in ran.err
    assert "credentials" in ran.err
    assert "TLS" not in bench.run("send", bench.mock, "--text", "echo hi", "--bearer", "x").err


def redaction(bench: Bench) -> None:
    words = ("--debug", "--verbose", "--bearer", "T0p-Secret", "--svc-param", "X-Api-Key: T0p-Secret-2")
    ran = bench.run("send", bench.mock, "--text", "echo hi", *words)
    assert "SendMessage" in ran.err
    assert "T0p-Secret" not in ran.err + ran.out


def preference_of_the_card(bench: Bench) -> None:
    declared = [each for each in bench.interfaces() if each["protocolVersion"] == "1.0"]
    for first in declared:
        card = bench.card(supportedInterfaces=[first, *(each for each in declared if each is not first)])
        out = bench.run("card", "get", card).out
        used = next(line for line in out.splitlines() if "in use" in line)
        assert f"{first['protocolBinding']} 1.0 (in use: preferred)" in used


def preference_of_the_client(bench: Bench) -> None:
    out = bench.run("card", "get", bench.mock, "--transport", "GRPC", "--transport", "JSONRPC").out
    assert "GRPC 1.0 (in use: GRPC was requested)" in out
    only = [each for each in bench.interfaces() if each["protocolBinding"] == "HTTP+JSON"][:1]
    out = bench.run("card", "get", bench.card(supportedInterfaces=only), "--transport", "GRPC").out
    assert "HTTP+JSON 1.0 (in use: the card declares no interface over GRPC)" in out


def tenant(bench: Bench) -> None:
    first = bench.interfaces()[0]
    words = ("--text", "hi", "--preview", "json")
    card = bench.card(supportedInterfaces=[{**first, "tenant": "acme"}])
    assert bench.run("send", card, *words).json["params"]["tenant"] == "acme"
    assert "tenant" not in bench.run("send", bench.mock, *words).json["params"]


def protocol_version(bench: Bench) -> None:
    for binding in ("JSONRPC", "HTTP+JSON"):
        words = ("send", bench.mock, "--text", "hi", "--transport", binding, "--preview", "http")
        assert "A2A-Version: 1.0\n" in bench.run(*words).out
    old = [each for each in bench.interfaces() if each["protocolVersion"] == "0.3"]
    words = ("send", bench.card(supportedInterfaces=old), "--text", "echo hi", "-o", "json")
    assert bench.run(*words, code=1).error["code"] == "VersionNotSupportedError"
    bench.run(*words, "--a2a-version", "0.3")


def defaults(bench: Bench) -> None:
    text = " ".join(bench.run("send", "--help").out.split())
    for words in (
        "(default: the order of the card)",
        "do not wait for the task to end (default: wait)",
        "text or json (default: text)",
        "(default: only the most important)",
        "(default: the highest on the card, at least 1.0)",
        "(default: verify)",
    ):
        assert words in text
    options = ("--transport", "GRPC", "--async", "-o", "json", "--verbose", "--a2a-version", "1.0", "--insecure")
    assert "task" in bench.run("send", bench.mock, "--text", "report 2", *options).json


def configuration(bench: Bench) -> None:
    file = bench.folder / "test.env"
    file.write_text("A2ACLI_BEARER=T0p-Secret\n")
    file.chmod(0o644)
    ran = bench.run("config", "show", "--config", str(file))
    assert "T0p-Secret" not in ran.out + ran.err
    assert "chmod 600" in ran.err
    assert file.read_text() == "A2ACLI_BEARER=T0p-Secret\n"
    assert "task" not in bench.run("config", "show", "-o", "json").json["settings"]


def help_and_version(bench: Bench) -> None:
    assert "task push-config create" in bench.run("help").out
    for words in (("help", "send"), ("send", "--help"), ("send", "-h")):
        assert bench.run(*words).out.startswith("usage: a2a-inspect send")
    assert bench.run("-v").out == bench.run("--version").out
    assert "default" in bench.run("task", "get", "--help").out


def skill(bench: Bench) -> None:
    text = bench.run("help", "--skill").out
    assert "--help" in text
    assert len(text) < 20_000
    assert " MUST " not in text


REQUIREMENTS = (
    Requirement("A2ACLI_CARD_GET_001", "card from a host, a URL and a file; selects the transport", card_get),
    Requirement("A2ACLI_SEND_001", "sends a message", send_starts),
    Requirement("A2ACLI_SEND_002", "waits for the task, or returns at once with `--async`", send_waits),
    Requirement("A2ACLI_SEND_003", "streams; exit code 0 for a lone message, and without streaming", send_streams),
    Requirement("A2ACLI_SEND_004", "prints every part of the artifacts", send_renders),
    Requirement("A2ACLI_SEND_005", "media type of the part before the option, else inferred", media_type),
    Requirement("A2ACLI_SEND_006", "several parts in their order; data from stdin", part_order),
    Requirement("A2ACLI_TASK_GET_001", "state, artifacts and history of a task", task_get),
    Requirement("A2ACLI_TASK_CANCEL_001", "cancels a task and prints its state", task_cancel),
    Requirement("A2ACLI_INTERACT_001", "new task in an existing context", continues_context),
    Requirement("A2ACLI_INTERACT_002", "continues a task; a rejected id is an error", continues_task),
    Requirement("A2ACLI_INTERACT_003", "invents no ids of the server", invents_nothing),
    Requirement("A2ACLI_INTERACT_004", "prints ids, state and the command to continue", reports_identifiers),
    Requirement("A2ACLI_INTERACT_005", "remembers no task or context", is_stateless),
    Requirement("A2ACLI_TASK_POLL_001", "gets a task once, or polls it", polls),
    Requirement("A2ACLI_TASK_POLL_002", "interval and time limit of polling", polls_in_limits),
    Requirement(
        "A2ACLI_TASK_POLL_003", "stops at an interrupted task, not at an unspecified state", polls_until_interrupted
    ),
    Requirement("A2ACLI_TASK_POLL_004", "polls after a stream broke off", polls_after_stream),
    Requirement("A2ACLI_OUT_001", "ids and state in every form; diagnostics on stderr only", standard_output),
    Requirement("A2ACLI_OUT_002", "one JSON document, never a stream by configuration", one_document),
    Requirement("A2ACLI_OUT_003", "JSON Lines with `--stream`; an error is the last line", json_lines),
    Requirement("A2ACLI_OUT_004", "the same error names over every transport, with a hint", error_names),
    Requirement("A2ACLI_OUT_005", "labelled fields and blocks, no control sequences", text_floor),
    Requirement("A2ACLI_OUT_006", "ids also without waiting", result_without_waiting),
    Requirement("A2ACLI_EXIT_001", "exit codes that agree with the error", exit_codes),
    Requirement("A2ACLI_EXIT_002", "exit code 0 whatever the task's outcome; a warning names it", outcomes),
    Requirement("A2ACLI_AUTH_001", "bearer token and API key as the card declares", credentials),
    Requirement("A2ACLI_AUTH_002", "credentials from the environment; exposure documented", credential_variables),
    Requirement("A2ACLI_AUTH_003", "warns of credentials without TLS verification", insecure),
    Requirement("A2ACLI_AUTH_004", "masks credentials in diagnostics", redaction),
    Requirement("A2ACLI_TX_001", "transport in the order of the card", preference_of_the_card),
    Requirement("A2ACLI_TX_002", "ordered preference of the user", preference_of_the_client),
    Requirement("A2ACLI_TX_003", "tenant of the interface in every request", tenant),
    Requirement("A2ACLI_VER_001", "sends the version; below 1.0 on request only", protocol_version),
    Requirement("A2ACLI_DEFAULT_001", "six defaults, documented and overridable", defaults),
    Requirement("A2ACLI_CONFIG_001", "configuration is shown, masked and never changed", configuration),
    Requirement("A2ACLI_CLI_001", "help, version, and the defaults in the help", help_and_version),
    Requirement("A2ACLI_SKILL_001", "at most one skill, which refers to the help", skill),
    Requirement("A2ACLI_SKILL_002", "the skill repeats no requirements", skill),
)
