from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from puppets import Call, MakeAgent, RunCli, ServerThread
from push_bodies import registering

HOOK = "http://127.0.0.1:9/hook"
SECRETS = ("t0ken-secret", "cr3dentials")
CAN = {"capabilities": {"pushNotifications": True}}


@pytest.fixture
def task_id(cli: RunCli, slow_mock: str):  # type: ignore[no-untyped-def]
    made = cli("send", "-a", slow_mock, "--text", "long 60", "--async", "-o", "json").json["task"]["id"]
    yield made
    cli("task", "cancel", made, "-a", slow_mock)


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_configuration_is_created_printed_listed_and_deleted(cli: RunCli, slow_mock: str, task_id: str, version: str):
    agent = ("-a", slow_mock, "--a2a-version", version, "-o", "json")
    words = ("--url", HOOK, "--token", SECRETS[0], "--auth", f"Bearer:{SECRETS[1]}", "--id", "mine")
    made = cli("task", "push-config", "set", task_id, *words, *agent)
    assert (made.code, made.err) == (0, "")
    assert made.json == {
        "id": "mine",
        "taskId": task_id,
        "url": HOOK,
        "token": SECRETS[0],
        "authentication": {"scheme": "Bearer", "credentials": SECRETS[1]},
    }
    assert cli("task", "push-config", "get", task_id, "--id", "mine", *agent).json == made.json
    assert cli("task", "push-config", "list", task_id, *agent).json["configs"] == [made.json]
    gone = cli("task", "push-config", "delete", task_id, "--id", "mine", *agent)
    assert (gone.code, gone.json) == (0, {})
    assert cli("task", "push-config", "list", task_id, *agent).json["configs"] == []


def test_configuration_as_text_has_no_secrets(cli: RunCli, slow_mock: str, task_id: str):
    words = ("--url", HOOK, "--token", SECRETS[0], "--auth", f"Bearer:{SECRETS[1]}", "--id", "mine", "-a", slow_mock)
    ran = cli("task", "push-config", "set", task_id, *words, "--debug")
    assert ran.out == f"Push config: mine\nTask: {task_id}\nURL: {HOOK}\nToken: ****\nAuthentication: Bearer ****\n"
    assert not [secret for secret in SECRETS if secret in ran.err]
    listed = cli("task", "push-config", "list", task_id, "-a", slow_mock)
    assert listed.out == f"{ran.out}Push configs: 1\n"
    gone = cli("task", "push-config", "delete", task_id, "--id", "mine", "-a", slow_mock)
    assert gone.out == f"Deleted: mine\nTask: {task_id}\n"


def test_missing_options_are_not_sent(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(call.rpc["params"] | {"id": "made"})

    agent = make_agent(answer, CAN)
    ran = cli("task", "push-config", "set", "task-1", "--url", HOOK, "-a", agent.url)
    assert agent.calls[-1].rpc["params"] == {"taskId": "task-1", "url": HOOK}
    assert ran.out == f"Push config: made\nTask: task-1\nURL: {HOOK}\n"


def test_secret_in_an_invalid_option_is_not_printed(cli: RunCli):
    for value in (SECRETS[1], f"two words:{SECRETS[1]}", f"Bearer:{SECRETS[1]}\x00", f":{SECRETS[1]}"):
        ran = cli("task", "push-config", "set", "t", "-a", "x", "--url", HOOK, "--auth", value)
        assert ran.code == 2
        assert "--auth" in ran.err
        assert SECRETS[1] not in ran.err


def test_agent_without_push_is_called_with_a_warning(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.error(-32003, "no pushes")

    agent = make_agent(answer, {"capabilities": {"pushNotifications": False}})
    ran = cli("task", "push-config", "set", "task-1", "--url", HOOK, "-a", agent.url)
    assert ran.code == 1
    assert ran.err.startswith("Warning: the card declares pushNotifications: false; ")
    assert "PushNotificationNotSupportedError" in ran.err


@pytest.mark.parametrize("words", [["set", "--url", HOOK], ["get", "--id", "x"], ["list"], ["delete", "--id", "x"]])
def test_response_of_another_type_is_an_agent_error(cli: RunCli, make_agent: MakeAgent, words: list[str]):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(["odd"])

    verb, *more = words
    ran = cli("task", "push-config", verb, "task-1", *more, "-a", make_agent(answer, CAN).url, "-o", "json")
    assert (ran.code, ran.out, ran.error["code"]) == (1, "", "InvalidAgentResponseError")


def test_missing_task_has_the_error_name_of_the_protocol(cli: RunCli, mock: str):
    for words in (["set", "--url", HOOK], ["get", "--id", "x"], ["list"], ["delete", "--id", "x"]):
        verb, *more = words
        ran = cli("task", "push-config", verb, "nobody", *more, "-a", mock, "-o", "json")
        assert (ran.code, ran.error["code"]) == (1, "TaskNotFoundError")


def test_next_page_token_is_printed(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result({"configs": [], "nextPageToken": "more\nof it"})

    ran = cli("task", "push-config", "list", "task-1", "-a", make_agent(answer, CAN).url)
    assert ran.out.startswith("Push configs: 0\nNext page token: more")
    assert len(ran.out.splitlines()) == 2


def test_push_aliases_do_the_same(cli: RunCli, slow_mock: str, task_id: str):
    agent = ("-a", slow_mock, "-o", "json")
    made = cli("push", "set", task_id, "--url", HOOK, "--id", "mine", *agent)
    assert (made.code, made.json["id"]) == (0, "mine")
    assert cli("push", "get", task_id, "--id", "mine", *agent).json == made.json
    assert cli("push", "list", task_id, *agent).json["configs"] == [made.json]
    assert cli("push", "delete", task_id, "--id", "mine", *agent).json == {}


def test_configuration_id_is_optional_before_1_0(cli: RunCli, slow_mock: str, task_id: str):
    old = ("-a", slow_mock, "--a2a-version", "0.3", "-o", "json")
    made = cli("push", "set", task_id, "--url", HOOK, *old)
    assert made.code == 0
    assert cli("push", "get", task_id, *old).json["url"] == HOOK
    newer = cli("push", "get", task_id, "-a", slow_mock, "-o", "json")
    assert (newer.code != 0, newer.error["message"]) == (True, "No configuration was given.")


def test_findings_are_printed_for_every_call(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] == "ListTaskPushNotificationConfigs":
            return call.result({"configs": [{"id": "c", "taskId": "other", "url": HOOK}]})
        return call.result({"id": "another", "contextId": "c", "status": {"state": "done"}})

    agent = make_agent(answer, CAN)
    for words, rule in (
        (("push", "list", "task-1"), "RESULT-007"),
        (("task", "get", "task-1"), "STREAM-006"),
        (("task", "cancel", "task-1"), "STREAM-006"),
    ):
        ran = cli(*words, "-a", agent.url, "--findings", "-o", "json")
        assert rule in {line["finding"]["id"] for line in ran.lines if "finding" in line}


# Why nothing comes


def test_the_doctor_finds_no_webhook(cli: RunCli, slow_mock: str, task_id: str):
    ran = cli("doctor", slow_mock, "--push", task_id)
    assert ran.code != 0
    assert ran.out.startswith("Certain: not registered: no webhook for this task")
    assert ran.err.startswith("Error: Not registered: ")


def test_the_doctor_finds_that_the_task_does_not_exist(cli: RunCli, slow_mock: str):
    ran = cli("doctor", slow_mock, "--push", "nosuch")
    assert ran.code == 1
    first, remedy = ran.out.splitlines()[:2]
    assert first.startswith("Certain: the agent does not know the task: TaskNotFoundError: ")
    assert "nosuch" in first
    assert remedy.startswith("  Remedy: Check the id of the task")
    assert "Register a webhook" not in ran.out


def test_doctor_finds_that_the_agent_may_reject_loopback(cli: RunCli, slow_mock: str, task_id: str):
    # The mock itself listens at this URL: without a listener, the cause would be certain.
    cli("push", "set", task_id, "--url", f"{slow_mock}/hook", "-a", slow_mock)
    ran = cli("doctor", slow_mock, "--push", task_id, "-o", "json")
    causes = {cause["name"]: cause["likelihood"] for cause in ran.json["causes"]}
    assert causes["the agent refuses the address"] == "possible"
    assert causes["the agent pushes only when the task ends"] == "possible"
    assert causes["the agent does not support push"] == "ruled_out"
    assert ran.code == 0


def test_the_doctor_finds_that_nothing_listens_at_the_url(cli: RunCli, slow_mock: str, task_id: str):
    cli("push", "set", task_id, "--url", HOOK, "-a", slow_mock)
    ran = cli("doctor", slow_mock, "--push", task_id)
    assert ran.code != 0
    assert ran.out.startswith(f"Certain: the agent cannot reach the receiver: nothing listens at {HOOK}")


def test_the_error_of_the_doctor_is_one_sentence(cli: RunCli, make_agent: MakeAgent, closed_port: int):
    gone = f"http://127.0.0.1:{closed_port}/rpc"
    interface = {"url": gone, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    agent = make_agent(card={"supportedInterfaces": [interface]})
    error = cli("doctor", agent.url, "--push", "t").err.splitlines()[0]
    assert error.startswith("Error: The agent cannot be reached: ")
    assert error.endswith(": the connection was refused.")


def test_the_doctor_finds_that_push_is_not_declared(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] == "GetTask":
            return call.result({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}})
        return call.result({"configs": [{"id": "c", "taskId": "t", "url": "https://me.example.org/hook"}]})

    agent = make_agent(answer, {"capabilities": {"pushNotifications": False}})
    ran = cli("doctor", agent.url, "--push", "t")
    assert ran.code != 0
    assert ran.out.startswith("Likely: the agent does not support push: the card declares pushNotifications: false")


@pytest.mark.parametrize("whole", [False, True])
def test_the_body_of_0_3_over_http_json_has_two_forms(cli: RunCli, server_thread: ServerThread, whole: bool):
    bodies: list[Any] = []
    with server_thread.serve(registering(whole=whole, bodies=bodies)) as url:
        words = ("push", "set", "task-1", "--url", HOOK, "--id", "mine", "-a", url, "--a2a-version", "0.3")
        first, form = cli(*words), "request" if whole else "config"
        assert bodies[0]["name"] == "tasks/task-1/pushNotificationConfigs/mine"
        assert first.code == (1 if whole else 0)
        assert ("Try --body request." in first.err) is whole
        assert cli(*words, "--body", form).out == f"Push config: mine\nTask: task-1\nURL: {HOOK}\n"
        refused = cli(*words, "--body", "config" if whole else "request")
        assert f"Try --body {form}." in refused.err


def test_the_form_of_the_body_is_only_for_0_3_over_http_json(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(card=CAN)
    ran = cli("push", "set", "task-1", "--url", HOOK, "--body", "request", "-a", agent.url)
    assert ran.code == 2
    assert "only for A2A 0.3 over HTTP+JSON" in ran.err
