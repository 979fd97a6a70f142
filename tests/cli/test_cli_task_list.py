from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from puppets import Call, MakeAgent, RunCli, task


def pages(*tokens: str, **members: Any):  # type: ignore[no-untyped-def]
    """Respond with one task per page; `tokens` are the nextPageToken of each page."""

    async def answer(call: Call) -> web.StreamResponse:
        token = call.rpc["params"].get("pageToken", "")
        number = ["", *tokens].index(token)
        listed = task("COMPLETED") | {"id": f"task-{number}"}
        following = tokens[number] if number < len(tokens) else ""
        return call.result({"tasks": [listed], "nextPageToken": following, "pageSize": 1, "totalSize": 7} | members)

    return answer


def test_tasks_are_a_table_and_counted(cli: RunCli, mock: str):
    sent = cli("send", "-a", mock, "--text", "fail", "-o", "json").json["task"]
    ran = cli("task", "list", mock, "--context-id", sent["contextId"], width=200)
    assert (ran.code, ran.err) == (0, "")
    head, row, count = ran.out.splitlines()
    assert head.split() == ["ID", "STATE", "AGE", "CONTEXT", "MESSAGE"]
    assert [head.index(name) for name in ("STATE", "CONTEXT")] == [row.index("failed"), row.index(sent["contextId"])]
    message = sent["status"]["message"]["parts"][0]["text"]
    assert re.fullmatch(rf"{sent['id']}  failed  \d+ s +{sent['contextId']}  {re.escape(message)}", row)
    assert count == "Tasks: 1 of 1"


@pytest.mark.parametrize(
    "words", [["--verbose"], ["--history", "1"], ["--history", "0"], ["--include-artifacts"]], ids=" ".join
)
def test_options_about_members_print_tasks_as_fields(cli: RunCli, mock: str, words: list[str]):
    context = cli("send", "-a", mock, "--text", "fail", "-o", "json").json["task"]["contextId"]
    ran = cli("task", "list", mock, "--context-id", context, *words, width=200)
    assert (ran.code, ran.err) == (0, "")
    assert f"\nContext: {context}\nState: failed\n" in ran.out
    assert ran.out.endswith("Tasks: 1 of 1\n")


@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=str)
def test_without_a_terminal_tasks_are_fields(cli: RunCli, make_agent: MakeAgent, stream: list[str]):
    ran = cli("task", "list", make_agent(pages("a")).url, "--all", *stream)
    assert ran.out == (
        "Task: task-0\nContext: context-1\nState: completed\n"
        "Task: task-1\nContext: context-1\nState: completed\n"
        "Tasks: 2 of 7\n"
    )


@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=str)
def test_pages_are_one_table(cli: RunCli, make_agent: MakeAgent, stream: list[str]):
    ran = cli("task", "list", make_agent(pages("a", "b")).url, "--all", *stream, width=80)
    assert ran.out == (
        "ID      STATE      AGE  CONTEXT    MESSAGE\n"
        "task-0  completed  -    context-1  -\n"
        "task-1  completed  -    context-1  -\n"
        "task-2  completed  -    context-1  -\n"
        "Tasks: 3 of 7\n"
    )


def test_later_page_with_longer_cells_makes_columns_wider_and_cuts_nothing(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        if not call.rpc["params"].get("pageToken"):
            return call.result({"tasks": [task("WORKING")], "nextPageToken": "next"})
        return call.result({"tasks": [task("INPUT_REQUIRED") | {"id": "i" * 60}], "nextPageToken": ""})

    *_, row, count = cli("task", "list", make_agent(answer).url, "--all", width=200).out.splitlines()
    assert row == f"{'i' * 60}  input-required  -    context-1  -"
    assert count == "Tasks: 2"


@pytest.mark.parametrize(
    ("seconds", "age"), [(30, r"3\d s"), (65, "1 min"), (7100, "1 h"), (86400 * 3.5, "3 d"), (-500, "0 s")]
)
def test_age_is_the_time_since_the_status(cli: RunCli, make_agent: MakeAgent, seconds: float, age: str):
    async def answer(call: Call) -> web.StreamResponse:
        timestamp = (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()
        listed = task("WORKING") | {"status": {"state": "TASK_STATE_WORKING", "timestamp": timestamp}}
        return call.result({"tasks": [listed], "nextPageToken": ""})

    row = cli("task", "list", make_agent(answer).url, width=80).out.splitlines()[1]
    assert re.fullmatch(age, re.split(" {2,}", row)[2])


def test_json_output_is_the_page_of_the_protocol(cli: RunCli, mock: str):
    context = cli("send", "-a", mock, "--text", "report 1", "-o", "json").json["task"]["contextId"]
    listed = cli("task", "list", "-a", mock, "--context-id", context, "-o", "json").json
    assert listed.keys() == {"tasks", "nextPageToken", "pageSize", "totalSize"}
    [only] = listed["tasks"]
    assert "artifacts" not in only
    more = cli("task", "list", "-a", mock, "--context-id", context, "--include-artifacts", "-o", "json").json
    assert more["tasks"][0]["artifacts"][0]["name"] == "report.md"


def test_every_filter_is_sent_as_in_1_0(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(pages())
    cli(
        *("task", "list", "-a", agent.url, "--context-id", "c", "--status", "input-required", "--page-size", "5"),
        *("--history", "0", "--after", "2026-01-31T13:00:00+01:00", "--include-artifacts"),
    )
    assert agent.calls[-1].rpc["params"] == {
        "contextId": "c",
        "status": "TASK_STATE_INPUT_REQUIRED",
        "pageSize": 5,
        "historyLength": 0,
        "statusTimestampAfter": "2026-01-31T12:00:00.000Z",
        "includeArtifacts": True,
    }


def test_empty_page_token_is_the_last_page(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(pages())
    assert cli("task", "list", "-a", agent.url, "--page-token", "").code == 2
    assert agent.calls == []


def test_without_filters_nothing_is_sent(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(pages())
    assert cli("task", "list", "-a", agent.url).code == 0
    assert agent.calls[-1].rpc["params"] == {}


def test_page_ends_with_the_command_for_the_next_page(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(pages("second page"))
    ran = cli("task", "list", "-a", agent.url, "--status", "completed")
    assert ran.out.startswith("Task: task-0\n")
    assert "\nTasks: 1 of 7\nNext page token: second page\n" in ran.out
    assert ran.out.endswith(
        f"Next page: a2a-inspect task list --status TASK_STATE_COMPLETED --page-token 'second page' -a {agent.url}\n"
    )
    assert "Task: task-1\n" in cli("task", "list", "-a", agent.url, "--page-token", "second page").out


def test_all_follows_the_pages_into_one_document(cli: RunCli, make_agent: MakeAgent):
    ran = cli("task", "list", "-a", make_agent(pages("a", "b")).url, "--all", "-o", "json")
    assert ran.code == 0
    assert [item["id"] for item in ran.json["tasks"]] == ["task-0", "task-1", "task-2"]
    assert (ran.json["nextPageToken"], ran.json["totalSize"]) == ("", 7)


def test_json_stream_has_one_task_per_line(cli: RunCli, make_agent: MakeAgent):
    ran = cli("task", "list", "-a", make_agent(pages("a", "b")).url, "--all", "-o", "json", "--stream")
    assert (ran.code, [line["id"] for line in ran.lines]) == (0, ["task-0", "task-1", "task-2"])


@pytest.mark.parametrize("more", [[], ["--page-token", "a"]])
def test_endless_pages_are_an_agent_error(cli: RunCli, make_agent: MakeAgent, more: list[str]):
    ran = cli("task", "list", "-a", make_agent(pages("a", "a")).url, "--all", "-o", "json", *more)
    assert (ran.code, ran.out, ran.error["code"]) == (1, "", "InvalidAgentResponseError")


def test_empty_list_has_exit_code_0(cli: RunCli, make_agent: MakeAgent):
    ran = cli("task", "list", "-a", make_agent(pages(tasks=[], totalSize=0)).url)
    assert (ran.code, ran.out) == (0, "Tasks: none\n")


def test_version_without_list_tasks_is_an_error_without_a_request(cli: RunCli, mock: str):
    ran = cli("task", "list", "-a", mock, "--a2a-version", "0.3", "-o", "json")
    assert (ran.code, ran.out, ran.error["code"]) == (1, "", "UnsupportedOperationError")
    assert "0.3 over JSONRPC does not have ListTasks" in ran.error["message"]
    assert ran.error["hint"] == "Use another interface: --transport JSONRPC --a2a-version 1.0."


@pytest.mark.parametrize("value", [[], {"tasks": 5}, {"tasks": [{"id": 5}]}, "tasks"])
def test_invalid_page_is_an_agent_error(cli: RunCli, make_agent: MakeAgent, value: Any):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(value)

    ran = cli("task", "list", "-a", make_agent(answer).url, "-o", "json")
    assert (ran.code, ran.error["code"]) == (1, "InvalidAgentResponseError")


def test_unsupported_list_has_the_error_name_of_the_protocol(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.error(-32004, "we keep no lists")

    ran = cli("task", "list", "-a", make_agent(answer).url, "-o", "json")
    assert (ran.code, ran.error["code"], ran.error["a2aCode"]) == (1, "UnsupportedOperationError", -32004)
    assert ran.error["hint"].startswith("Use task get")


def test_page_token_cannot_forge_output_lines(cli: RunCli, make_agent: MakeAgent):
    ran = cli("task", "list", "-a", make_agent(pages("x'; rm -rf /\n\x1b[2JSound: yes")).url)
    assert "\x1b" not in ran.out
    assert not [line for line in ran.out.splitlines() if line.startswith("Sound")]
