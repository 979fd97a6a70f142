from __future__ import annotations

from aiohttp import web
from puppets import Call, MakeAgent, RunCli, chunk, task


def start(cli: RunCli, agent: str, text: str) -> str:
    task_id = cli("send", "-a", agent, "--text", text, "--async", "-o", "json").json["task"]["id"]
    assert isinstance(task_id, str)
    return task_id


def test_task_is_printed_with_artifacts(cli: RunCli, mock: str):
    task_id = start(cli, mock, "report 2")
    ran = cli("task", "get", task_id, "-a", mock, "--wait", "--poll-interval", "10ms")
    assert ran.code == 0
    assert ran.out.startswith(f"Task: {task_id}\nContext: ")
    assert "\nState: completed\n" in ran.out
    assert "\nArtifact: report.md\nText:\n  # How a task travels\n" in ran.out


def test_json_task_has_no_envelope(cli: RunCli, mock: str):
    ran = cli("task", "get", start(cli, mock, "fail"), "-a", mock, "-o", "json", "--wait", "--poll-interval", "10ms")
    assert ran.code == 0
    assert ran.json["status"]["state"] == "TASK_STATE_FAILED"
    assert ran.json.keys() >= {"id", "contextId", "status"}


def test_history_option_requests_and_prints_messages(cli: RunCli, make_agent: MakeAgent):
    history = [{"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "please"}]}]

    async def answer(call: Call) -> web.StreamResponse:
        return call.result(task("COMPLETED", history=history))

    agent = make_agent(answer)
    assert "please" not in cli("task", "get", "task-1", "-a", agent.url).out
    shown = cli("task", "get", "task-1", "-a", agent.url, "--history", "5")
    assert "Message: m1 (user)\nText:\n  please\n" in shown.out
    assert agent.calls[-1].rpc["params"] == {"id": "task-1", "historyLength": 5}


def test_task_get_does_not_wait_by_default(cli: RunCli, slow_mock: str):
    task_id = start(cli, slow_mock, "long 60")
    ran = cli("task", "get", task_id, "-a", slow_mock)
    assert ran.code == 0
    assert "State: working\n" in ran.out or "State: submitted\n" in ran.out
    assert f"Follow: a2a-inspect task get {task_id} --wait" in ran.out
    cli("task", "cancel", task_id, "-a", slow_mock)


def test_watch_is_an_alias_of_wait(cli: RunCli, make_agent: MakeAgent):
    states = iter(["WORKING", "COMPLETED"])

    async def answer(call: Call) -> web.StreamResponse:
        return call.result(task(next(states)))

    ran = cli("task", "get", "task-1", "-a", make_agent(answer).url, "--watch", "--poll-interval", "10ms", "-o", "json")
    assert ran.json["status"]["state"] == "TASK_STATE_COMPLETED"


def test_cancel_prints_the_new_state(cli: RunCli, slow_mock: str):
    task_id = start(cli, slow_mock, "long 60")
    ran = cli("task", "cancel", task_id, "-a", slow_mock, "-o", "json")
    assert ran.code == 0
    assert ran.json["id"] == task_id
    assert ran.json["status"]["state"] == "TASK_STATE_CANCELED"
    assert ran.err == ""
    again = cli("task", "cancel", task_id, "-a", slow_mock, "-o", "json")
    assert again.code == 1
    assert (again.error["code"], again.error["a2aCode"]) == ("TaskNotCancelableError", -32002)


def test_unknown_task_has_the_error_name_of_the_protocol(cli: RunCli, mock: str):
    ran = cli("task", "get", "nobody", "-a", mock, "-o", "json")
    assert (ran.code, ran.out) == (1, "")
    assert ran.error["code"] == "TaskNotFoundError"
    shown = cli("task", "get", "nobody", "-a", mock)
    assert shown.err.startswith("Error: ")
    assert "TaskNotFoundError" in shown.err
    assert "\nHint: " in shown.err


def test_unspecified_error_has_the_internal_code(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.error(-31999, "my own invention")

    error = cli("task", "get", "x", "-a", make_agent(answer).url, "-o", "json").error
    assert (error["code"], error["a2aCode"]) == ("A2ACLI_ERR_INTERNAL", -31999)
    assert "my own invention" in error["message"]


def test_response_of_another_type_is_an_agent_error(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(["not", "a", "task"])

    ran = cli("task", "get", "x", "-a", make_agent(answer).url, "-o", "json")
    assert (ran.code, ran.error["code"]) == (1, "InvalidAgentResponseError")


def test_stream_instead_of_a_task_is_an_agent_error(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return await call.stream(chunk("unasked"))

    for verb in ("get", "cancel"):
        ran = cli("task", verb, "x", "-a", make_agent(answer).url, "-o", "json")
        assert (ran.code, ran.error["code"]) == (1, "InvalidAgentResponseError")
