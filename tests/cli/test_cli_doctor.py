from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from puppets import CARD, Call, MakeAgent, RunCli, silence, task
from time_limit import TimeLimit

SECRET = "s3cret-token"


async def sound(call: Call) -> web.StreamResponse:
    return call.error(-32001, "no such task")


async def of_0_3(call: Call) -> web.StreamResponse:
    match call.rpc["method"]:
        case "tasks/get":
            return call.error(-32001, "no such task")
        case "message/send":
            return call.result(
                {
                    "kind": "message",
                    "messageId": "m",
                    "role": "agent",
                    "parts": [{"kind": "text", "text": "hello back"}],
                }
            )
        case _:
            return call.error(-32601, "no such method")


def test_valid_agent_is_reported_step_by_step(cli: RunCli, mock: str):
    ran = cli("doctor", mock)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    steps = [line for line in lines if line.startswith("Step: ")]
    passed = sum(step.startswith("Step: + ") for step in steps)
    assert lines[0] == f"Valid: yes, {passed} checks passed, {len(steps) - passed} unknown"
    assert lines[1] == f"Interface: + 1.0 over JSONRPC at {mock}/"
    assert re.match(r"Step: \+ name, [\d.]+ m?s: ", steps[0])
    assert any(step.startswith("Step: + interface 1 as 1.0 over JSONRPC, ") for step in steps)
    assert all(": " in line for line in lines)


def test_doctor_prints_the_verdict_then_a_line_for_each_interface_then_the_details(cli: RunCli, mock: str):
    declared = cli("card", "get", mock, "-o", "json").json["supportedInterfaces"]
    labels = [line.partition(":")[0] for line in cli("doctor", mock).out.splitlines()]
    assert labels[: len(declared) + 2] == ["Valid", *["Interface"] * len(declared), "Step"]
    assert not {"Valid", "Interface"} & set(labels[len(declared) + 1 :])


def test_doctor_names_what_needs_a_message_in_the_last_line(cli: RunCli, mock: str):
    *_, last = cli("doctor", mock).out.splitlines()
    assert last.startswith("Not checked: streaming, push notifications. To check: --message TEXT, ")
    assert "--message" not in cli("doctor", mock, "--message", "push").out


def test_line_of_an_interface_has_what_differs_from_the_card(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(of_0_3)
    assert (
        cli("doctor", agent.url).out.splitlines()[1].startswith(f"Interface: - 1.0 over JSONRPC at {agent.url}/rpc: ")
    )
    unknown = {"url": agent.url, "protocolBinding": "CARRIER-PIGEON", "protocolVersion": "1.0"}
    agent = make_agent(sound)
    agent.card = {"supportedInterfaces": [*agent.whole_card()["supportedInterfaces"], unknown]}
    first, second = [line for line in cli("doctor", agent.url).out.splitlines() if line.startswith("Interface: ")]
    assert first == f"Interface: + 1.0 over JSONRPC at {agent.url}/rpc"
    assert second.startswith("Interface: ? 1.0 over CARRIER-PIGEON at ")
    assert "CARRIER-PIGEON" in second.partition(": ")[2]


def test_agent_argument_overrides_the_environment(cli: RunCli, mock: str):
    assert cli("doctor", "-a", mock).code == cli("doctor", A2ACLI_AGENT_CARD=mock).code == 0
    assert cli("doctor", mock, A2ACLI_AGENT_CARD="http://127.0.0.1:1").code == 0


def test_json_report_is_one_document(cli: RunCli, mock: str):
    ran = cli("doctor", mock, "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    report = ran.json
    assert report.keys() == {"reference", "valid", "steps", "proposals", "comparisons"}
    assert (report["reference"], report["valid"], report["proposals"]) == (mock, True, [])
    assert all(
        step.keys() == {"name", "passed", "message", "seconds", "remedy", "exchange", "denied"}
        for step in report["steps"]
    )
    assert all(row.keys() == {"feature", "declared", "observed", "matches"} for row in report["comparisons"])
    assert {step["passed"] for step in report["steps"]} == {True, None}


def test_message_adds_streaming_and_push_checks(cli: RunCli, mock: str):
    report = cli("doctor", mock, "--message", "push", "-o", "json").json
    steps = {step["name"]: step["passed"] for step in report["steps"]}
    assert steps["streaming"] is steps["push"] is True
    rows = {row["feature"]: row["matches"] for row in report["comparisons"]}
    assert rows["streaming"] is rows["push notifications"] is True


def test_missing_credentials_have_a_remedy_and_exit_code_4_if_no_other_check_failed(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return web.Response(status=401)

    agent = make_agent(answer)
    ran = cli("doctor", agent.url)
    assert ran.code == 4
    lines = ran.out.splitlines()
    [at] = [n for n, line in enumerate(lines) if line.startswith("Step: - interface")]
    assert "interface 1 as 1.0 over JSONRPC" in lines[at]
    assert lines[at + 1].startswith("  Remedy: Add --bearer")
    total = sum(line.startswith("Step: ") for line in lines)
    reason = "interface 1 as 1.0 over JSONRPC: credentials are required (401)"
    assert lines[0] == f"Valid: no, 2 of {total} checks failed: {reason}"
    assert lines[1].startswith("Interface: - 1.0 over JSONRPC at ")
    assert lines[1].endswith(": credentials are required (401)")
    assert ran.err.startswith("Error: 2 of ")
    assert "\nHint: Add --bearer" in ran.err
    agent.card = {"skills": None}
    assert cli("doctor", agent.url).code == 1


def test_message_that_cannot_be_sent_for_lack_of_credentials_is_not_asked_for_again(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return web.Response(status=401)

    out = cli("doctor", make_agent(answer).url, "--message", "hello").out
    assert "streaming: declared yes; not checked: credentials are required" in out
    assert "--message" not in out


@pytest.mark.parametrize(
    ("interface", "reason", "line"),
    [
        ({"protocolBinding": "REST"}, "the binding 'REST' is not supported", "the binding 'REST' is not supported"),
        ({"protocolVersion": "2.0"}, "protocol version '2.0' is not supported", "observed 1.0 over JSONRPC"),
    ],
)
def test_agent_without_a_usable_interface_fails_with_the_reason_of_send(
    cli: RunCli, make_agent: MakeAgent, interface: dict[str, str], reason: str, line: str
):
    agent = make_agent(sound)
    [declared] = agent.whole_card()["supportedInterfaces"]
    agent.card = {"supportedInterfaces": [declared | interface]}
    ran, sent = cli("doctor", agent.url), cli("send", agent.url, "--text", "hi")
    words = f"The card declares no interface that a2a-inspect can use ({reason}"
    assert sent.err.startswith(f"Error: {words}")
    verdict, shown, *_ = ran.out.splitlines()
    assert (ran.code, verdict.partition("interfaces: ")[2][: len(words)]) == (1, words)
    assert shown.endswith(f": {line}")
    assert cli("doctor", agent.url, "-o", "json").json["valid"] is False


def test_json_report_of_a_failure_is_complete_and_error_is_on_stderr(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return web.Response(text="<html>", content_type="text/html")

    ran = cli("doctor", make_agent(answer).url, "-o", "json")
    assert ran.code == 1
    assert ran.json["valid"] is False
    assert ran.error["code"] == "A2A_INSPECT_ERR_CHECK_FAILED"


def test_proposed_command_works_despite_the_wrong_card(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(of_0_3, {"capabilities": {}})
    ran = cli("doctor", agent.url)
    assert ran.code == 1
    [line] = [line for line in ran.out.splitlines() if line.startswith("Proposal: ")]
    why, _, command = line.partition(": a2a-inspect ")
    assert why == "Proposal: the card declares 1.0, but the interface responded as 0.3 over JSONRPC"
    assert command == f"send --text hello -a {agent.url} --a2a-version 0.3 --transport JSONRPC"
    [proposal] = cli("doctor", agent.url, "-o", "json").json["proposals"]
    assert proposal["protocolVersion"] == "0.3"
    assert proposal["command"] == f"a2a-inspect {command}"
    talk = cli(*command.split())
    assert "hello back" in talk.out
    assert talk.err == "Warning: the card declares 1.0 for this interface; 0.3 is used because of --a2a-version\n"
    assert cli("send", "-a", agent.url, "--text", "hello").code == 1


def test_proposal_for_an_undeclared_address_has_no_command(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(sound)
    port = agent.url.rpartition(":")[2]
    interface = {"url": f"http://0.0.0.0:{port}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    agent.card = {"supportedInterfaces": [interface]}
    ran = cli("doctor", agent.url, "-o", "json")
    assert ran.code == 1
    [proposal] = ran.json["proposals"]
    assert (proposal["url"], proposal["command"]) == (f"{agent.url}/rpc", None)
    assert f"1.0 over JSONRPC at {agent.url}/rpc" in cli("doctor", agent.url).out


def test_unreachable_agent_has_exit_code_3(cli: RunCli, closed_port: int):
    ran = cli("doctor", f"http://127.0.0.1:{closed_port}", "-o", "json")
    assert ran.code == 3
    assert ran.error["code"] == "A2ACLI_ERR_UNREACHABLE"
    assert [step["name"] for step in ran.json["steps"]] == ["name", "tcp"]
    assert ran.json["valid"] is False


def test_missing_card_has_exit_code_3(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    ran = cli("doctor", make_agent(card=web.Response(status=404)).url)
    assert ran.code == 3
    assert "Step: - card: no card at any of these URLs\n  Remedy: " in ran.out
    assert "Valid: no" in ran.out
    assert cli("doctor", str(tmp_path / "none.json")).code == 3
    locked = cli("doctor", make_agent(card=web.Response(status=401)).url, "-o", "json")
    assert (locked.code, locked.error["code"]) == (4, "A2ACLI_ERR_CREDENTIALS_MISSING")


def test_reference_without_host_is_a_usage_error(cli: RunCli):
    ran = cli("doctor", "http://", "-o", "json")
    assert (ran.code, ran.error["code"]) == (2, "A2ACLI_ERR_USAGE")


def test_card_file_is_checked_without_its_origin(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    path = tmp_path / "card.json"
    path.write_text(json.dumps(make_agent(sound).whole_card()), encoding="utf-8")
    ran = cli("doctor", str(path))
    assert ran.code == 0
    assert "\nStep: + card content: Puppet" in ran.out


def test_agent_text_cannot_forge_lines_or_move_the_cursor(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.error(-32000, "\x1b[2J\nValid: yes\u202e")

    ran = cli("doctor", make_agent(answer, {"name": "evil\x1b]0;x\x07\nValid: yes"}).url)
    assert ran.code == 1
    assert not {"\x1b", "\x07", "\u202e"} & set(ran.out + ran.err)
    [verdict] = [line for line in ran.out.splitlines() if line.startswith("Valid")]
    assert verdict.startswith("Valid: no, ")


def test_no_secret_is_printed_in_any_format(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        given = call.request.headers.get("Authorization", "")
        return call.error(-32000, f"I know you: {given}")

    agent = make_agent(answer, {"description": SECRET})
    for words in (["--bearer", SECRET], ["--bearer", SECRET, "-o", "json"], ["--bearer", SECRET, "--debug"]):
        ran = cli("doctor", agent.url, *words)
        assert agent.calls[-1].request.headers["Authorization"] == f"Bearer {SECRET}"
        assert SECRET not in ran.out + ran.err
    named = agent.url.replace("://", f"://user:{SECRET}@")
    ran = cli("doctor", named)
    assert agent.calls[-1].request.headers["Authorization"].startswith("Basic ")
    assert SECRET not in ran.out + ran.err
    assert SECRET not in cli("doctor", named, "-o", "json").out


def test_timeout_ends_the_checks(cli: RunCli, make_agent: MakeAgent, time_limit: TimeLimit):
    async def answer(call: Call) -> web.StreamResponse:
        time_limit.end()
        return await silence(call)

    ran = cli("doctor", make_agent(answer).url, "--timeout", "300ms", "-o", "json")
    assert (ran.code, ran.error["code"], ran.json["valid"]) == (5, "A2ACLI_ERR_TIMEOUT", None)
    assert [(step["name"], step["passed"]) for step in ran.json["steps"]][:2] == [("name", True), ("tcp", True)]
    ran = cli("doctor", make_agent(answer).url, "--timeout", "300ms")
    assert ran.code == 5
    assert ran.out.startswith("Valid: unknown, not all checks were made\nStep: + name, ")


def test_message_is_sent_to_the_chosen_interface(cli: RunCli, mock: str):
    ran = cli("doctor", mock, "--message", "echo hi", "--a2a-version", "0.3", "--debug")
    assert ran.code == 0
    assert '"method":"message/stream"' in ran.err


def test_doctor_reports_findings_about_the_card(cli: RunCli, make_agent: MakeAgent):
    card: dict[str, Any] = {"description": None}
    ran = cli("doctor", make_agent(sound, card).url)
    assert ran.code == 1
    assert "CARD-001 description is missing" in ran.out
    assert "card get --validate" in ran.out
    assert CARD["name"] in ran.out


def test_task_instead_of_an_error_is_an_unknown_result(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(task("COMPLETED"))

    ran = cli("doctor", make_agent(answer).url)
    assert ran.code == 0
    assert "? interface 1 as 1.0 over JSONRPC" in ran.out
