"""The tools, called by the client of the official SDK; a few tests use stdio and a server in a process of its own."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from mcp_calls import Connect, ask, refusal
from puppets import SECONDS, Call, MakeAgent, check_that_sends, chunk, silence, status, task

from inspector.capture.paths import captures_folder
from inspector.mcp_server.agents import Agents
from inspector.options import Options

CHECKS = Path(__file__).parents[2] / "docs" / "examples" / "report.acts.yaml"
TOOLS = {
    "doctor", "card_lint", "send", "replay", "task", "push_diagnose", "check",
    "captures", "records", "record", "findings", "explain_rule",
}  # fmt: skip
SECRET = "canary-7d21-token"


async def test_the_tools_say_whether_they_change_an_agent(connect: Connect, mock: str):
    async with connect(mock) as reading, connect(mock, "--allow-send") as sending:
        listed = {tool.name: tool for tool in (await reading.list_tools()).tools}
        sends = {tool.name: tool for tool in (await sending.list_tools()).tools}
        assert "read-only" in (reading.instructions or "")
        assert "read-only" not in (sending.instructions or "")
    assert set(listed) == TOOLS
    assert all(tool.description for tool in listed.values())
    assert {name for name, tool in listed.items() if not tool.annotations.read_only_hint} == {"send", "replay", "check"}
    assert not sends["task"].annotations.read_only_hint
    assert sends["records"].annotations.read_only_hint


async def test_a_read_only_server_sends_nothing_that_changes_an_agent(connect: Connect, make_agent: MakeAgent):
    agent = make_agent()
    refused = {
        "send": {"text": "hi"},
        "replay": {"seq": 1},
        "check": {"files": ["a.yaml"]},
        "doctor": {"message": "hi"},
        "task": {"task_id": "task-1", "action": "cancel"},
    }
    async with connect(agent.url) as client:
        for tool, arguments in refused.items():
            assert "--allow-send" in await refusal(client, tool, **arguments)
    assert agent.calls == []


async def test_a_message_and_the_records_that_show_it(connect_stdio: Connect, mock: str):
    async with connect_stdio(mock, "--allow-send") as client:
        sent = await ask(client, "send", text="report 3")
        assert sent["task"]["state"] == "completed"
        assert sent["task"]["artifacts"][0]["name"] == "report.md"
        assert sent["running"] is False
        between = {"capture": sent["capture"], "after": sent["firstRecord"] - 1}
        rows = (await ask(client, "records", filter="kind:request op:SendStreamingMessage", **between))["rows"]
        [request] = rows
        shown = await ask(
            client, "record", seq=request["seq"], capture=sent["capture"], pointer="/params/message/parts/0"
        )
        assert json.loads(shown["payload"]) == {"text": "report 3"}
        for pointer, nearest in (
            ("/params/massage", "/params has the members message"),
            ("/params/message/parts/1/text", "/params/message/parts has 1 element, the first is 0."),
            ("/params/message/parts/0/text/0", "/params/message/parts/0/text is neither an object nor an array."),
            ("params", "The whole payload has the members jsonrpc, id, method, params."),
        ):
            why = await refusal(client, "record", seq=request["seq"], capture=sent["capture"], pointer=pointer)
            assert f"The payload has no value at {pointer}. {nearest}" in why
        again = await ask(client, "replay", seq=request["seq"])
        assert again["task"]["id"] != sent["task"]["id"]
        asked = await ask(client, "task", task_id=sent["task"]["id"])
        assert asked["task"]["state"] == "completed"


async def test_pages_of_records_are_complete_and_short(connect: Connect, mock: str):
    async with connect(mock, "--allow-send") as client:
        capture = (await ask(client, "send", text="report 40"))["capture"]
        seen: list[int] = []
        page: dict[str, Any] = {"next": 0}
        while "next" in page:
            page = await ask(client, "records", capture=capture, after=page["next"], limit=20)
            assert len(json.dumps(page)) < 10_000
            seen += [row["seq"] for row in page["rows"]]
        assert seen == list(range(1, page["records"] + 1))
        assert "limit" in await refusal(client, "records", limit=1_000)


async def test_the_doctor_and_the_lint_of_a_card(connect: Connect, make_agent: MakeAgent):
    agent = make_agent(card={"description": 5})
    async with connect(agent.url) as client:
        linted = await ask(client, "card_lint")
        assert linted["findings"]["error"] >= 1
        rule = linted["findings"]["rules"][0]
        assert rule["pointer"] == "/description"
        explained = await ask(client, "explain_rule", rule=rule["id"].lower())
        assert explained["remedy"] == rule["remedy"]
        examined = await ask(client, "doctor")
        assert examined["valid"] is False
        found = await ask(client, "findings", capture=examined["capture"])
        assert rule["id"] in {each["id"] for each in found["rules"]}


async def test_an_unknown_rule_record_filter_or_capture_is_explained(connect: Connect, mock: str):
    async with connect(mock) as client:
        assert "Call doctor or send" in await refusal(client, "records")
        await ask(client, "card_lint")
        assert "CARD" in await refusal(client, "explain_rule", rule="NOPE-1")
        assert "but not 999" in await refusal(client, "record", seq=999)
        assert "the keys are kind" in await refusal(client, "records", filter="nope:1")
        assert "other.a2a does not exist, or is not a file. Name a file below" in await refusal(
            client, "records", capture="other.a2a"
        )


async def test_an_agent_that_does_not_answer_is_an_error_with_its_records(connect: Connect):
    async with connect("http://127.0.0.1:9", "--allow-send") as client:
        assert "Records 1 to 2 of" in await refusal(client, "send", text="hi")


async def test_files_outside_of_the_folder_are_not_read(connect: Connect, folder: Path, tmp_path: Path, mock: str):
    (tmp_path / "secret.json").write_text('{"password": "x"}')
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    (folder / "card.json").write_text("{}")
    async with connect(mock, "--allow-send") as client:
        for name in (str(tmp_path / "secret.json"), "../secret.json", "link.json", "/etc/passwd"):
            assert "is not below" in await refusal(client, "card_lint", agent=name)
            assert "is not below" in await refusal(client, "send", text="hi", files=[name])
            assert "is not below" in await refusal(client, "check", files=[name])
            assert "is not below" in await refusal(client, "records", capture=name)
        for name, why in (("~nosuch/x", "unknown user"), ("a\0b", "not allowed"), ("a" * 300, "name too long")):
            assert why in await refusal(client, "check", files=[name])
            assert why in await refusal(client, "records", capture=name)
        linted = await ask(client, "card_lint", agent="card.json")
        assert linted["findings"]["error"] > 0
        assert "capture" not in linted, "nothing was sent, so there is nothing to look at"


async def test_card_files_that_the_user_named_may_be_anywhere(connect: Connect, folder: Path, tmp_path: Path):
    for name in ("own", "named"):
        (tmp_path / f"{name}.json").write_text("{}")
    (folder / "agents.toml").write_text(f'[agents.named]\nurl = "{tmp_path / "named.json"}"\n')
    own = str(tmp_path / "own.json")
    async with connect(own) as client:
        for agent in ("", own, "named"):
            assert (await ask(client, "card_lint", agent=agent))["findings"]["error"] > 0
        assert "is not below" in await refusal(client, "card_lint", agent=str(tmp_path / "named.json"))


async def test_checks_report_their_failures(connect: Connect, folder: Path, mock: str):
    (folder / "report.acts.yaml").write_text(CHECKS.read_text())
    (folder / "wrong.acts.yaml").write_text(CHECKS.read_text().replace("TASK_STATE_COMPLETED", "TASK_STATE_FAILED"))
    async with connect(mock, "--allow-send") as client:
        assert (await ask(client, "check", files=["report.acts.yaml"]))["passed"] is True
        failed = await ask(client, "check", files=["wrong.acts.yaml"])
        assert failed["passed"] is False
        assert failed["failures"][0]["why"][0]["expected"]
        assert "No test" in await refusal(client, "check", files=["report.acts.yaml"], words=["zzz"])


async def test_missing_push_notifications_have_a_cause(connect: Connect, mock: str):
    async with connect(mock, "--allow-send") as client:
        sent = await ask(client, "send", text="report 3")
        causes = (await ask(client, "push_diagnose", task_id=sent["task"]["id"]))["causes"]
        assert causes[0]["name"] == "not registered"


async def test_text_of_an_agent_is_sanitised_and_secrets_are_masked(connect_stdio: Connect, make_agent: MakeAgent):
    async def answer(call: Call) -> Any:
        evil = f"\x1b[2J\u202e {SECRET} {'x' * 5_000}"
        return await call.stream({"task": task("WORKING")}, chunk(evil), status("COMPLETED", evil))

    agent = make_agent(answer)
    async with connect_stdio(agent.url, "--allow-send", A2ACLI_BEARER=SECRET) as client:
        sent = await client.call_tool("send", {"text": f"my token is {SECRET}"})
        capture = sent.structured_content["capture"]
        answers = [sent]
        rows = (await ask(client, "records", capture=capture))["rows"]
        answers += [await client.call_tool("record", {"seq": row["seq"], "capture": capture}) for row in rows]
    assert agent.calls[-1].request.headers["Authorization"] == f"Bearer {SECRET}"
    assert SECRET not in "".join(each.model_dump_json() for each in answers)
    for text in (text for each in answers for text in texts_in(each.structured_content)):
        assert text.replace("\n", "").isprintable(), text
    assert len(sent.content[0].text) < 5_000


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_in(item)


async def test_credentials_are_sent_only_to_the_agent_of_the_command_line(
    connect: Connect, make_agent: MakeAgent, folder: Path
):
    own, other, trusted, named, foreign = agents = [make_agent(reply) for _ in range(5)]
    text = "".join(f'[agents.{name}]\nurl = "{url}"\nbearer = "env:A2A_NAMED"\n' for name, url in
                   (("named", named.url), ("foreign", foreign.url)))  # fmt: skip
    (folder / "agents.toml").write_text(text)  # of the project, which can name any host
    given = {"A2ACLI_BEARER": SECRET, "A2A_NAMED": "token-of-the-named-agent"}
    async with connect(own.url, "--trust", trusted.url, "--trust", named.url, "--allow-send", **given) as client:
        for agent in ("", own.url, other.url, trusted.url, "named", "foreign"):
            await ask(client, "send", text="hi", agent=agent)
    sent = [{call.request.headers.get("Authorization") for call in each.calls if call.body} for each in agents]
    known = {f"Bearer {SECRET}"}
    assert sent == [known, {None}, known, {"Bearer token-of-the-named-agent"}, {None}]


async def test_names_with_the_same_url_get_their_own_credentials(connect: Connect, make_agent: MakeAgent, folder: Path):
    agent = make_agent(reply)
    text = "".join(f'[agents.{name}]\nurl = "{agent.url}"\nbearer = "env:A2A_{name.upper()}"\n' for name in
                   ("admin", "user"))  # fmt: skip
    (folder / "agents.toml").write_text(text)
    async with connect("--allow-send", "--trust", agent.url, A2A_ADMIN="token-1", A2A_USER="token-2") as client:
        sent = [await ask(client, "send", text="hi", agent=name) for name in ("admin", "user", agent.url, "admin")]
    received = [call.request.headers.get("Authorization") for call in agent.calls if call.body]
    assert received == ["Bearer token-1", "Bearer token-2", None, "Bearer token-1"]
    captures = [each["capture"] for each in sent]
    assert captures[3] == captures[0]
    assert len(set(captures)) == 3


async def test_the_name_of_the_agent_of_the_command_line_has_the_options_of_the_command_line(
    connect: Connect, make_agent: MakeAgent, folder: Path
):
    agent = make_agent(reply)
    (folder / "agents.toml").write_text(f'[agents.mine]\nurl = "{agent.url}"\nbearer = "env:A2A_MINE"\n')
    options = "mine", "--allow-send", "--trust", agent.url, "--bearer", "token-2"
    async with connect(*options, A2A_MINE="token-1") as client:
        for name in ("", "mine", agent.url):
            await ask(client, "send", text="hi", agent=name)
    assert [call.request.headers.get("Authorization") for call in agent.calls if call.body] == ["Bearer token-2"] * 3


async def test_a_check_does_not_read_the_environment(connect: Connect, make_agent: MakeAgent, folder: Path):
    agent = make_agent(reply)
    (folder / "steal.acts.yaml").write_text(check_that_sends("OTHER_SECRET"))
    async with connect(agent.url, "--allow-send", OTHER_SECRET="a-value-that-stays") as client:
        done = await client.call_tool("check", {"files": ["steal.acts.yaml"]})
    assert done.structured_content["passed"] is False, done
    assert "the environment variable OTHER_SECRET is not read" in done.model_dump_json()
    assert "a-value-that-stays" not in done.model_dump_json()
    assert not any(b"a-value-that-stays" in call.body for call in agent.calls)


async def reply(call: Call) -> Any:
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]}
    return await call.stream({"message": message})


async def test_a_task_that_has_not_ended_is_a_result(connect: Connect, make_agent: MakeAgent):
    async def answer(call: Call) -> Any:
        return call.result(task("WORKING") if call.rpc["method"] == "GetTask" else {"task": task("WORKING")})

    agent = make_agent(answer, card={"capabilities": {}})
    async with connect(agent.url, "--allow-send") as client:
        sent = await ask(client, "send", text="hi", seconds=0)
        assert sent["running"] is True
        assert sent["task"]["state"] == "working"
    assert agent.methods == ["SendMessage"]


async def test_a_stream_is_left_when_the_time_is_over(connect: Connect, make_agent: MakeAgent):
    async def answer(call: Call) -> Any:
        await call.stream({"task": task("WORKING")})
        return await silence(call)

    agent = make_agent(answer)
    async with connect(agent.url, "--allow-send") as client:
        for seconds in (0, 1):
            began = time.monotonic()
            sent = await ask(client, "send", text="hi", seconds=seconds)
            assert sent["running"] is True
            assert time.monotonic() - began < seconds + SECONDS - 5, "it did not wait for the end of the stream"


async def test_polling_ends_when_the_time_is_over(connect: Connect, make_agent: MakeAgent):
    async def answer(call: Call) -> Any:
        return call.result(task("WORKING") if call.rpc["method"] == "GetTask" else {"task": task("WORKING")})

    agent = make_agent(answer, card={"capabilities": {}})
    async with connect(agent.url, "--allow-send") as client:
        began = time.monotonic()
        assert (await ask(client, "send", text="hi", seconds=1.2))["running"] is True
        assert time.monotonic() - began < SECONDS


async def test_a_stream_that_stays_open_is_left_when_its_task_needs_input(connect: Connect, make_agent: MakeAgent):
    async def answer(call: Call) -> Any:
        continues = "taskId" in call.rpc["params"]["message"]
        if not continues:
            await call.stream({"task": task("WORKING")}, status("INPUT_REQUIRED"))
            return await silence(call)
        response = await call.stream({"task": task("INPUT_REQUIRED")})
        await asyncio.sleep(1.5)  # longer than a stream may stay open after its task was interrupted
        await response.write(call.frame(status("COMPLETED")))
        return response

    agent = make_agent(answer)
    async with connect(agent.url, "--allow-send") as client:
        began = time.monotonic()
        asked = await ask(client, "send", text="hi", seconds=60)
        assert time.monotonic() - began < SECONDS
        assert asked["task"]["state"] == "input-required"
        continued = await ask(client, "send", text="more", task_id="task-1", seconds=60)
        assert continued["task"]["state"] == "completed"


async def test_a_stream_that_never_stops_is_left_after_the_end_of_its_task(
    connect: Connect, make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("inspector.session.stream_deadline.TERMINAL_GRACE", 0.5)

    async def answer(call: Call) -> Any:
        response = await call.stream({"task": task("WORKING")}, status("COMPLETED"))
        while call.request.transport is not None and not call.request.transport.is_closing():
            await response.write(call.frame(chunk("more")))
            await asyncio.sleep(0.1)  # more often than the time after which the stream is left
        return response

    agent = make_agent(answer)
    async with connect(agent.url, "--allow-send") as client, asyncio.timeout(SECONDS):
        sent = await ask(client, "send", text="hi", seconds=60)
    assert sent["task"]["state"] == "completed"


async def test_two_calls_for_the_same_agent_run_one_after_the_other(connect: Connect, mock: str):
    async with connect(mock, "--allow-send") as client:
        sent = await asyncio.gather(*(ask(client, "send", text="report 3") for _ in range(3)))
    ranges = sorted((each["firstRecord"], each["lastRecord"]) for each in sent)
    assert all(before[1] < after[0] for before, after in pairwise(ranges))
    assert len({each["capture"] for each in sent}) == 1


async def test_two_first_calls_for_an_agent_share_a_session(environment: dict[str, str]):
    agents = Agents(lambda agent: Options(reference=agent))

    async def use(number: int) -> Path:
        async with agents.use(f"http://127.0.0.1:9/{number}") as use:
            await use.session.push.turn_on()  # a receiver needs a moment to stop
            return use.session.journal.capture.path

    for number in range(8):
        await use(number)
    first, second = await asyncio.gather(use(8), use(8))
    assert first == second
    await agents.close()


async def test_a_session_that_another_tool_waits_for_stays_open(environment: dict[str, str]):
    agents = Agents(lambda agent: Options(reference=agent))

    async def use(number: int) -> Path:
        async with agents.use(f"http://127.0.0.1:9/{number}") as use:
            return use.session.journal.capture.path

    async with agents.use("http://127.0.0.1:9/0"):
        waiting = asyncio.create_task(use(0))
        await asyncio.sleep(0)
        for number in range(1, 8):
            await use(number)
    await use(8)  # closes a session, before the waiting tool has run
    assert await waiting == await use(0)
    await agents.close()


async def test_captures_are_complete_after_the_client_has_left(connect_stdio: Connect, mock: str):
    async with connect_stdio(mock) as client:
        linted = await ask(client, "card_lint")
    names = sorted(path.name for path in captures_folder().iterdir())
    assert names == [linted["capture"]], "the log of SQLite is gone, and nothing else is left"


async def test_an_error_in_a_stream_that_stays_open_is_an_error_of_the_tool(connect: Connect, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        error = {
            "jsonrpc": "2.0",
            "id": call.rpc["id"],
            "error": {"code": -32602, "message": "the budget is exhausted"},
        }
        response = await call.stream(b"data: " + json.dumps(error).encode() + b"\n\n")
        await asyncio.Event().wait()
        return response

    async with connect(make_agent(answer).url, "--allow-send") as client:
        assert "the budget is exhausted" in await refusal(client, "send", text="hi", seconds=1)


async def test_a_call_that_cannot_start_leaves_no_capture(connect: Connect, home: Path, tmp_path: Path):
    async with connect("https://127.0.0.1:9", "--client-cert", str(tmp_path / "gone.pem")) as client:
        assert "gone.pem" in await refusal(client, "card_lint")
    assert not list(home.rglob("*.a2a"))
