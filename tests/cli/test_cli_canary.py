"""Commands neither store nor report a secret, wherever it occurs."""

from __future__ import annotations

from pathlib import Path

import pytest
from canary import HELD, LOCATED, SEEN, URLS, leaks, parrot, secret_card, with_secrets
from puppets import MakeAgent, RunCli

GIVEN = ("--bearer", HELD, "--api-key", HELD, "--header", f"X-Custom: {HELD}", "--svc-param", f"x-param: {HELD}")


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_a_command_stores_and_reports_no_secret(
    cli: RunCli, make_agent: MakeAgent, tmp_path: Path, stream: tuple[str, ...]
):
    agent = make_agent(parrot, secret_card())
    words = ["--debug", "--verbose", "--findings", *GIVEN, "--capture", str(tmp_path / "capture.a2a")]
    message = ["--text", "hi", "--file-url", URLS[0], "--metadata", SEEN, "--message-metadata", SEEN]
    ran = cli("send", "-a", with_secrets(agent), *message, *stream, *words)
    assert ran.code == 0, ran.err
    assert HELD in agent.calls[-1].request.headers["Authorization"], "the agent gets the secret"
    assert not leaks(tmp_path, HELD, LOCATED)
    assert "X-Custom: ****" in ran.err
    assert not [line for line in f"{ran.err}\n{ran.out}".splitlines() if HELD in line or LOCATED in line]


def test_only_json_on_stdout_is_what_the_agent_sent(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    agent = make_agent(parrot, secret_card())
    ran = cli(
        "send",
        "-a",
        with_secrets(agent),
        "--text",
        "hi",
        *GIVEN,
        "-o",
        "json",
        "--debug",
        "--save",
        str(tmp_path / "saved"),
    )
    assert ran.code == 0, ran.err
    assert LOCATED in ran.out
    assert HELD not in ran.err
    assert LOCATED not in ran.err


def test_a_secret_that_a_variable_of_a_snippet_inserts_is_masked(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    agent = make_agent(parrot, secret_card())
    snippet = tmp_path / "told.a2a.toml"
    snippet.write_text('[[part]]\ntext = "use {{API_TOKEN}} and {{PLACE}}"\n')
    words = ("--snippet", str(snippet), "--debug", "--verbose", "--capture", str(tmp_path / "capture.a2a"))
    ran = cli("send", "-a", agent.url, *words, "--var", "PLACE=Basel", API_TOKEN=HELD)
    assert ran.code == 0, ran.err
    assert f"use {HELD} and Basel" in agent.calls[-1].body.decode()
    assert "use **** and Basel" in ran.err
    assert HELD not in ran.out + ran.err
    assert not leaks(tmp_path, HELD)


@pytest.mark.parametrize("words", [("push", "set", "t", "--url", URLS[1], "--token", HELD, "--auth", f"Basic:{HELD}")])
def test_a_webhook_is_registered_without_storing_its_secrets(
    cli: RunCli, make_agent: MakeAgent, tmp_path: Path, words: tuple[str, ...]
):
    agent = make_agent(parrot, secret_card())
    capture = tmp_path / "capture.a2a"
    ran = cli(*words, "-a", with_secrets(agent), "--debug", "--verbose", "--capture", str(capture), *GIVEN)
    assert ran.code == 0, ran.err
    assert HELD in agent.calls[-1].body.decode()
    assert LOCATED in agent.calls[-1].body.decode()
    assert not leaks(tmp_path, HELD, LOCATED)
    assert not [line for line in f"{ran.err}\n{ran.out}".splitlines() if HELD in line or LOCATED in line]


@pytest.mark.parametrize("words", [("card", "get", "--validate"), ("doctor",), ("lint",), ("task", "get", "t")])
def test_other_commands_report_no_secret(cli: RunCli, make_agent: MakeAgent, words: tuple[str, ...]):
    agent = make_agent(parrot, secret_card())
    ran = cli(*words, *(() if words == ("lint",) else ("-a",)), with_secrets(agent), *GIVEN)
    assert ran.out
    assert not [line for line in f"{ran.err}\n{ran.out}".splitlines() if HELD in line or LOCATED in line]


def test_the_userinfo_of_a_proxy_is_not_shown(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(parrot)
    proxy = agent.url.replace("://", f"://me:{HELD}@")
    ran = cli("doctor", "-a", "http://agent.example:9000", "--timeout", "5s", http_proxy=proxy, no_proxy="")
    assert "proxy" in ran.out
    assert HELD not in ran.out + ran.err
