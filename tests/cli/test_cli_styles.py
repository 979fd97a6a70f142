"""The looks of text output: colour, and the same bytes without it; also in a pseudo-terminal."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from programs import Run, running
from puppets import (
    CARD_PATH,
    SECONDS,
    Call,
    MakeAgent,
    Puppet,
    RunCli,
    ServerThread,
    chunk,
    silence,
    status,
    task,
)
from terminal import Token, tokens

SGR = re.compile(r"\x1b\[\d+m")
BOLD, DIM, RED, GREEN, YELLOW = (f"\x1b[{code}m" for code in (1, 2, 31, 32, 33))
OFF = "\x1b[0m"
WAIT = re.compile(r"\r\x1b\[K(waiting for [^\r\n\x1b]*)?")
"""The transient line that a command draws and erases when it waits for more than a second."""
EVIL = "\x1b[2J\x1b[31mred\x1b]0;owned\x07\x9b5n\u202e"
ALWAYS = ("--color", "always")


@pytest.fixture
def inspect(tmp_path: Path) -> Iterator[Run]:
    """Run the program in a terminal."""
    with running(tmp_path / "home") as run:
        yield run


def output_of(inspect: Run, *words: str, env: dict[str, str] | None = None, cols: int = 120) -> str:
    """Run a command in a terminal to its end and return its output without transient lines."""
    terminal = inspect(*words, env=env, cols=cols)
    assert terminal.wait_exit(SECONDS).restored
    return WAIT.sub("", terminal.raw.decode().replace("\r\n", "\n"))


def assert_only_styled(raw: str) -> None:
    """Fail if an output contains an escape sequence or a control character except for SGR codes and newlines."""
    strange = [token for token in tokens(raw.encode()) if token.kind != "text" and token != Token("c0", "\n")]
    assert [token for token in strange if not (token.kind == "csi" and re.fullmatch(r"\d+m", token.body))] == []


async def list_of_each_state(call: Call) -> web.StreamResponse:
    names = ("SUBMITTED", "WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED", "COMPLETED", "FAILED", "CANCELED", "REJECTED")
    tasks = [task(name) | {"id": f"{number:0>36}", "contextId": "c" * 36} for number, name in enumerate(names)]
    for listed in tasks:
        listed["status"]["message"] = {
            "messageId": "m",
            "role": "ROLE_AGENT",
            "parts": [{"text": f"first\n{'x' * 90}"}],
        }
    return call.result({"tasks": tasks, "nextPageToken": "", "totalSize": len(tasks)})


async def stream_of_texts(call: Call) -> web.StreamResponse:
    return await call.stream(
        {"task": task("SUBMITTED")},
        status("WORKING", "Thinking."),
        chunk("one "),
        chunk("line\ntwo", append=True),
        chunk(" lines\n", append=True, lastChunk=True),
        status("COMPLETED", "done"),
    )


FLOW = (
    "task task-1\nsubmitted\nworking\n  Thinking.\nnotes\n  one line\n  two lines\ncompleted\n  done\n"
    "Task: task-1\nContext: context-1\nState: completed\n"
)

COMMANDS: list[list[str]] = [
    ["card", "get", "URL", "--validate"],
    ["lint", "URL"],
    ["rules", "CARD-004"],
    ["send", "URL", "--text", "fail"],
    ["send", "URL", "--text", "report 2", "--stream", "--findings"],
    ["task", "list", "URL"],
    ["doctor", "URL"],
    ["task", "get", "unknown", "-a", "URL"],
    ["send", "URL", "--nonsense"],
]


def comparable(text: str) -> str:
    """Replace ids, times and counts of tasks, which differ between two runs."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", text)
    return re.sub(r"\d+\.\d+ s|\d+ s {1,2}|\d+ ms|\d+ of \d+", "N", text)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_colour_adds_only_codes_to_the_text(cli: RunCli, make_agent: MakeAgent, mock: str, words: list[str]):
    words = [mock if word == "URL" else word for word in words]
    if words[0] == "task" and words[1] == "list":
        words[2] = make_agent(list_of_each_state).url
    plain, styled = cli(*words), cli(*words, *ALWAYS)
    assert "\x1b" not in plain.out + plain.err
    assert SGR.search(styled.out + styled.err)
    assert_only_styled(styled.out + styled.err)
    assert comparable(SGR.sub("", styled.out)) == comparable(plain.out)
    assert comparable(SGR.sub("", styled.err)) == comparable(plain.err)
    assert plain.code == styled.code


@pytest.mark.parametrize("words", COMMANDS[:-1], ids=" ".join)
def test_json_is_never_styled(cli: RunCli, mock: str, words: list[str]):
    words = [mock if word == "URL" else word for word in words]
    ran = cli(*words, "-o", "json", *ALWAYS)
    assert "\x1b" not in ran.out + ran.err
    assert (ran.out or ran.err)[0] in "[{"


def test_roles_are_those_of_the_themes(cli: RunCli, make_agent: MakeAgent, closed_port: int):
    listed = cli("task", "list", make_agent(list_of_each_state).url, *ALWAYS, width=200).out
    for state in ("input-required", "auth-required", "canceled"):
        assert f"{YELLOW}{state}{OFF}" in listed
    assert f"{GREEN}completed{OFF}" in listed
    assert f"{RED}failed{OFF}" in listed
    assert f"{RED}rejected{OFF}" in listed
    assert f"  working{' ' * 9}" in listed
    assert listed.startswith(f"{BOLD}ID{OFF}")
    assert f"{DIM}{'c' * 36}{OFF}" in listed
    failed = cli("doctor", f"http://127.0.0.1:{closed_port}", *ALWAYS)
    assert failed.out.startswith(f"{DIM}Valid:{OFF} {RED}no{OFF}, 1 of 2 checks failed")
    assert f"{DIM}Step:{OFF} {GREEN}+{OFF} name" in failed.out
    assert failed.err.startswith(f"{RED}Error:{OFF} Nothing listens")


@pytest.mark.parametrize(
    ("options", "env", "styled"),
    [
        ([], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        ([], {"NO_COLOR": "0"}, False),
        ([], {"NO_COLOR": ""}, True),
        ([], {"TERM": "dumb"}, False),
        ([], {"A2ACLI_COLOR": "never"}, False),
        (["--color", "never"], {}, False),
        (["--color=always"], {"NO_COLOR": "1", "TERM": "dumb"}, True),
        (["--color", "auto"], {"A2ACLI_COLOR": "never"}, True),
    ],
    ids=str,
)
def test_text_in_a_terminal_is_styled_unless_the_environment_or_the_option_forbids_it(
    inspect: Run, options: list[str], env: dict[str, str], styled: bool
):
    raw = output_of(inspect, "rules", "CARD-004", *options, env=env)
    assert ("\x1b" in raw) is styled
    assert SGR.sub("", raw).startswith("CARD-004: ")


def test_colour_in_a_pipe_needs_the_option(cli: RunCli):
    assert "\x1b" not in cli("rules", "CARD-004").out
    assert "\x1b" in cli("rules", "CARD-004", A2ACLI_COLOR="always").out
    ran = cli("rules", "CARD-004", "--color", "sometimes")
    assert (ran.code, ran.out) == (2, "")
    assert "--color" in ran.err


def test_json_in_a_terminal_is_the_same_as_in_a_pipe(inspect: Run, cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(stream_of_texts)
    words = ("send", agent.url, "--text", "hi", "--stream", "-o", "json")
    assert output_of(inspect, *words) == cli(*words).out


@pytest.mark.parametrize("cols", [40, 80, 200])
def test_table_of_tasks_fits_the_terminal(inspect: Run, make_agent: MakeAgent, cols: int):
    url = make_agent(list_of_each_state).url
    lines = SGR.sub("", output_of(inspect, "task", "list", url, cols=cols)).splitlines()
    assert max(map(len, lines)) <= cols
    assert len(lines) == 1 + 8 + 1
    head, first, *_ = lines
    columns = {40: "ID STATE AGE MESSAGE", 80: "ID STATE AGE CONTEXT MESSAGE", 200: "ID STATE AGE CONTEXT MESSAGE"}
    assert head.split() == columns[cols].split()
    assert first.startswith("0000000…" if cols == 40 else "0" * 36)
    assert ("c" * 36 in first) is (cols == 200)
    assert first.endswith("x" * 90 if cols == 200 else "…")


def test_wide_letters_do_not_shift_the_columns(inspect: Run, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        tasks = [task("WORKING") | {"id": name, "contextId": "c"} for name in ("日本", "id", "e\u0301")]
        return call.result({"tasks": tasks, "nextPageToken": ""})

    terminal = inspect("task", "list", make_agent(answer).url, cols=60)
    terminal.wait_exit(SECONDS)
    rows = terminal.screen_text().splitlines()[1:4]
    assert [row[: row.index("working")] for row in rows] == ["日本  ", "id    ", "é     "]


def test_texts_of_a_stream_flow_in_a_terminal(inspect: Run, make_agent: MakeAgent):
    url = make_agent(stream_of_texts).url
    words = ("send", url, "--text", "hi", "--stream")
    raw = output_of(inspect, *words)
    assert SGR.sub("", raw) == output_of(inspect, *words, env={"NO_COLOR": "1"}) == FLOW
    for line in ("task task-1", "submitted", "working", "completed"):
        assert f"\n{DIM}{line}{OFF}\n" in f"\n{raw}"
    assert f"\n{BOLD}notes{OFF}\n  one line\n  two lines\n" in raw


@pytest.mark.parametrize("option", [["--verbose"], ["--history", "1"]], ids=str)
def test_stream_with_all_members_has_the_same_text_in_a_terminal_and_in_a_pipe(
    inspect: Run, cli: RunCli, make_agent: MakeAgent, option: list[str]
):
    words = ("task", "subscribe", "task-1", "-a", make_agent(stream_of_texts).url, "--stream", *option)
    assert SGR.sub("", output_of(inspect, *words)) == cli(*words).out


def test_text_is_printed_before_the_next_event_arrives(inspect: Run, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        response = await call.stream({"task": task("WORKING")}, chunk("half a "))
        while not continues:
            await asyncio.sleep(0.01)
        await response.write(call.frame(chunk("line", append=True)) + call.frame(status("COMPLETED")))
        return response

    continues: list[bool] = []
    terminal = inspect("send", make_agent(answer).url, "--text", "hi", "--stream")
    terminal.wait_for("  half a", SECONDS)
    continues.append(True)
    terminal.wait_for("  half a line\ncompleted\n", SECONDS)


def test_parts_replacements_and_warnings_have_lines_of_their_own(inspect: Run, make_agent: MakeAgent):
    other = chunk("other")
    other["artifactUpdate"]["artifact"] |= {"artifactId": "b", "name": "second"}
    file: dict[str, Any] = chunk("", append=True)
    file["artifactUpdate"]["artifact"]["parts"] = [{"raw": "AAAA", "filename": "f", "mediaType": "a/b"}, {"data": 1}]

    async def answer(call: Call) -> web.StreamResponse:
        events = ({"task": task("WORKING")}, chunk("one"), file, other, chunk("more", append=True), chunk("new"))
        return await call.stream(*events, b"data: {nonsense\n\n", chunk("end", append=True), status("COMPLETED"))

    raw = output_of(inspect, "send", make_agent(answer).url, "--text", "hi", "--stream", "--color", "never")
    assert raw.startswith(
        "task task-1\nworking\nnotes\n  one\nFile: f, a/b, 3 bytes\nData:\n  1\n\nsecond\n  other\nnotes (continued)\n"
        "  more\nnotes (replaced)\n  new\nWarning: an event could not be read: "
    )
    assert "\n  end\ncompleted\nTask: task-1\n" in raw


def test_hostile_text_is_defused_when_it_flows(inspect: Run, make_agent: MakeAgent):
    forged = f"{EVIL}\ncompleted\nTask: forged"

    async def answer(call: Call) -> web.StreamResponse:
        events = [chunk("start")] + [chunk(letter, append=True) for letter in forged]
        asks = status("INPUT_REQUIRED", f"{EVIL}\nState: forged")
        asks["statusUpdate"]["status"]["message"]["parts"].append({"raw": "", "filename": EVIL})
        events[0]["artifactUpdate"]["artifact"]["name"] = EVIL
        return await call.stream({"task": task("WORKING")}, *events, asks)

    for color in ("always", "never"):
        raw = output_of(inspect, "send", make_agent(answer).url, "--text", "hi", "--stream", "--color", color)
        assert_only_styled(raw)
        assert "\u202e" not in raw
        assert "\x1b[31mred" not in raw
        plain = SGR.sub("", raw).splitlines()
        assert not [line for line in plain if re.match(r"completed|(Task|State): forged", line)]
        assert "  start␛[2J␛[31mred␛]0;owned␇‹U+009B›5n‹U+202E›" in plain


@pytest.mark.parametrize("cols", [40, 200])
def test_hostile_text_is_defused_in_a_table(inspect: Run, make_agent: MakeAgent, cols: int):
    async def answer(call: Call) -> web.StreamResponse:
        listed = task("WORKING") | {"id": f"a{EVIL}", "contextId": EVIL}
        listed["status"] = {"state": f"odd{EVIL}", "timestamp": EVIL}
        return call.result({"tasks": [listed], "nextPageToken": EVIL})

    raw = output_of(inspect, "task", "list", make_agent(answer).url, cols=cols)
    assert_only_styled(raw)
    assert max(map(len, SGR.sub("", raw).splitlines()[:2])) <= cols
    assert "\u202e" not in raw
    assert "\x1b[31m" not in raw


@pytest.mark.parametrize("words", [["card", "get"], ["card", "get", "--validate"], ["lint"], ["doctor"]], ids=" ".join)
def test_hostile_card_is_defused(inspect: Run, make_agent: MakeAgent, words: list[str]):
    agent = make_agent(stream_of_texts, {"name": f"name{EVIL}", EVIL: 1})
    agent.card["supportedInterfaces"] = [{"url": f"http://127.0.0.1:1/{EVIL}", "protocolBinding": EVIL}]
    raw = output_of(inspect, *words, agent.url)
    assert_only_styled(raw)
    assert "\u202e" not in raw
    assert "\x1b[31mred" not in raw
    assert "␛[31mred" in raw


def test_wait_for_a_task_is_shown_on_stderr_only_in_a_terminal(inspect: Run, cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] != "GetTask":
            ended.clear()
            return call.result({"task": task("WORKING") | {"id": task_id}})
        return call.result(task("COMPLETED" if ended else "WORKING") | {"id": task_id})

    ended: list[bool] = []
    task_id = "59f8f6bc-f766-49ae-abcb-abb4fea4815c"
    words = ("send", make_agent(answer).url, "--text", "hi", "--poll-interval", "50ms")
    terminal = inspect(*words)
    # A busy machine may skip the first seconds.
    seconds = re.compile(r"waiting for task 59f8f6bc: working, \d+ s")
    terminal.wait_for(lambda screen: bool(seconds.search(screen.screen_text())), SECONDS)
    ended.append(True)
    assert terminal.wait_exit(SECONDS).restored
    assert terminal.screen_text().splitlines()[:3] == [f"Task: {task_id}", "Context: context-1", "State: completed"]
    assert "waiting" not in terminal.screen_text()


def test_interrupt_erases_the_progress(inspect: Run, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(task("WORKING"))

    terminal = inspect("task", "get", "task-1", "-a", make_agent(answer).url, "--wait", "--poll-interval", "50ms")
    terminal.wait_for(lambda screen: bool(re.search(r"task task-1: working, \d+ s", screen.screen_text())), SECONDS)
    terminal.press("ctrl+c")
    ending = terminal.wait_exit(SECONDS)
    assert (ending.status, ending.restored) == (130, True)
    assert "waiting for" not in terminal.screen_text()
    assert "Interrupted: task task-1, context context-1, working" in terminal.screen_text()


@pytest.mark.parametrize(("words", "env"), [(["-o", "json"], {}), ([], {"TERM": "dumb"})], ids=str)
def test_progress_is_not_shown_with_json_or_in_a_dumb_terminal(
    inspect: Run, make_agent: MakeAgent, words: list[str], env: dict[str, str]
):
    async def answer(call: Call) -> web.StreamResponse:
        await asyncio.sleep(1.5)
        return call.result(task("COMPLETED"))

    raw = output_of(inspect, "task", "get", "task-1", "-a", make_agent(answer).url, *words, env=env)
    assert "\x1b" not in raw
    assert "waiting" not in raw
    if words:
        assert json.loads(raw)["id"] == "task-1"


def test_upload_shows_how_much_was_sent(inspect: Run, server_thread: ServerThread, tmp_path: Path):
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path == CARD_PATH:
            return web.json_response(agent.whole_card())
        body = [await request.content.readany()]
        while not continues:
            await asyncio.sleep(0.01)
        body += [piece async for piece in request.content.iter_any()]
        rpc = json.loads(b"".join(body))
        return web.json_response({"jsonrpc": "2.0", "id": rpc["id"], "result": {"task": task("COMPLETED")}})

    continues: list[bool] = []
    agent = Puppet(silence, {})
    (tmp_path / "file").write_bytes(bytes(30_000_000))
    with server_thread.serve(handle) as agent.url:
        terminal = inspect("send", agent.url, "--file", tmp_path / "file", "--media-type", "text/plain")
        terminal.wait_for(
            lambda screen: re.search(r"sending the message: \d+ % of 40 MB, \d+ s", screen.screen_text()), 20
        )
        continues.append(True)
        terminal.wait_exit(SECONDS)
    assert terminal.screen_text().rstrip() == "Task: task-1\nContext: context-1\nState: completed"
