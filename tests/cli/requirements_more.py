"""The requirements of tiers 2 and 3 of the a2a-cli specification 0.2, each with a check on the built-in mock agent."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import trustme
from aiohttp import web
from certificates import write_pem
from forking import Program
from inspector.sample_agents.authentication import SECRET, USER
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.tls import Tls
from login_user import a_user_who_allows
from puppets import CARD_PATH, SECONDS, Call, status, task
from requirement_bench import Bench, Requirement

BINDINGS = ("JSONRPC", "HTTP+JSON", "GRPC")
LOGIN = ("--client-id", USER, "--store", "file")
EXTENSION = "https://extension.example/v1"


@contextmanager
def program(bench: Bench, *words: str) -> Iterator[Program]:
    """Run a command that serves, and interrupt it at the end."""
    bench.note(*words)
    with Program(*words) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=SECONDS)


def validate(bench: Bench) -> None:
    assert "Findings: none" in bench.run("card", "get", bench.slow_mock, "--validate").out
    ran = bench.run("card", "get", bench.card(supportedInterfaces=[]), "--validate", "-o", "json", code=1)
    assert json.loads(ran.err.splitlines()[-1])["error"]["code"] == "A2ACLI_ERR_CARD_INVALID"


def task_list(bench: Bench) -> None:
    first = bench.task("report 2")
    bench.task("ask")
    page = bench.run("task", "list", bench.mock, "--page-size", "1", "-o", "json").json
    assert len(page["tasks"]) == 1
    words = ("--page-size", "1", "--page-token", page["nextPageToken"], "-o", "json")
    other = bench.cli("task", "list", bench.mock, *words).json["tasks"]
    assert other[0]["id"] != page["tasks"][0]["id"]
    words = ("--status", "completed", "--context-id", first["contextId"], "-o", "json")
    assert [each["id"] for each in bench.run("task", "list", bench.mock, *words).json["tasks"]] == [first["id"]]


def subscribe(bench: Bench) -> None:
    async def answer(call: Call) -> web.StreamResponse:
        return await call.stream({"task": task("WORKING")}, status("COMPLETED"))

    url = bench.make_agent(answer).url
    lines = bench.run("task", "subscribe", "task-1", "-a", url, "--stream", "-o", "json").lines
    assert lines[0]["task"]["id"] == "task-1"
    assert lines[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


def subscribe_again(bench: Bench) -> None:
    begun = bench.task("long", bench.slow_mock, "--async")
    words = ("task", "subscribe", begun["id"], "-a", bench.slow_mock, "--stream", "-o", "json")
    for _ in range(2):
        with program(bench, *words) as process:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline())["task"]["id"] == begun["id"]


def device_login(bench: Bench) -> None:
    agent = bench.agent("oauth2")
    with a_user_who_allows():
        ran = bench.run("auth", "login", agent, *LOGIN, "--flow", "deviceCode", "--no-browser")
    assert "(deviceCode)" in ran.out


def client_login(bench: Bench) -> str:
    agent = bench.agent("oauth2")
    ran = bench.run("auth", "login", agent, *LOGIN, "--client-secret", "env:THE_SECRET", THE_SECRET=SECRET)
    assert "(clientCredentials)" in ran.out
    return agent


def client_credentials(bench: Bench) -> None:
    client_login(bench)


def stored_token(bench: Bench) -> None:
    agent = client_login(bench)
    bench.commands.clear()
    assert "message" in bench.run("send", agent, "--text", "echo hi", "-o", "json").json
    [file] = [
        path for path in bench.folder.parent.rglob("logins.json") if f":{agent.rpartition(':')[2]}" in path.read_text()
    ]
    assert os.name == "nt" or file.stat().st_mode & 0o077 == 0
    assert "oauth2" in bench.run("auth", "status").out


def every_transport(bench: Bench) -> None:
    for binding in BINDINGS:
        words = ("--text", "echo hi", "--transport", binding, "-o", "json")
        assert bench.run("send", bench.mock, *words).json["message"]["parts"] == [{"text": "hi"}]


def capabilities(bench: Bench) -> None:
    card = bench.card(capabilities={})
    begun = bench.task("ask")
    ran = bench.run("task", "subscribe", begun["id"], "-a", card, "--timeout", "5s", "-o", "json")
    assert "the card does not declare streaming" in ran.err
    words = ("task", "push-config", "list", begun["id"], "-a", card)
    assert "the card does not declare push notifications" in bench.run(*words).err
    ran = bench.run("card", "get", card, "--extended")
    assert "the card declares no extended card" in ran.err


def precedence(bench: Bench) -> None:
    file = bench.folder / "agent.env"
    file.write_text("A2ACLI_TIMEOUT=3s\nA2ACLI_HISTORY=3\nA2ACLI_POLL_INTERVAL=3s\n")
    words = ("config", "show", "--config", str(file), "--timeout", "1s", "-o", "json")
    settings = bench.run(*words, A2ACLI_HISTORY="2").json["settings"]
    sources = {name: settings[name]["source"] for name in ("timeout", "history", "poll-interval", "trust")}
    assert sources == {
        "timeout": "option --timeout",
        "history": "environment variable A2ACLI_HISTORY",
        "poll-interval": f"{file}:3",
        "trust": "default",
    }


def download(bench: Bench) -> None:
    made = bench.task("file")
    out = bench.folder / "artifacts"
    assert "Saved: " in bench.run("task", "download", made["id"], "-a", bench.mock, "--out", str(out)).out
    assert min(path.stat().st_size for path in out.iterdir()) > 0


def debug(bench: Bench) -> None:
    ran = bench.run("send", bench.mock, "--text", "echo hi", "--debug")
    assert '"method":"SendMessage"' in ran.err.replace(" ", "")
    assert '"role":"ROLE_AGENT"' in ran.err.replace(" ", "")


def conformance(bench: Bench) -> None:
    assert "failed" not in bench.run("conformance", bench.mock).out

    async def answer(call: Call) -> web.StreamResponse:
        return call.result({})

    bench.run("conformance", bench.make_agent(answer).url, code=1)


def completion(bench: Bench) -> None:
    for shell in ("bash", "zsh", "fish", "powershell"):
        assert "a2a-inspect complete" in bench.run("completion", shell).out


def push_configs(bench: Bench) -> None:
    made = bench.task("ask")
    about = (made["id"], "-a", bench.mock, "-o", "json")
    created = bench.run("task", "push-config", "create", *about, "--url", "http://127.0.0.1:9/", "--id", "mine").json
    assert created["id"] == "mine"
    assert bench.run("task", "push-config", "get", *about, "--id", "mine").json["url"] == "http://127.0.0.1:9/"
    assert len(bench.run("task", "push-config", "list", *about).json["configs"]) == 1
    bench.run("task", "push-config", "delete", *about, "--id", "mine")
    assert not bench.cli("task", "push-config", "list", *about).json.get("configs")


def extended_card(bench: Bench) -> None:
    agent = bench.agent("bearer")
    assert bench.run("card", "get", agent, "--extended", "--bearer", SECRET, "-o", "json").json["skills"]
    bench.run("card", "get", agent, "--extended", code=4)


def undeclared_scheme(bench: Bench) -> None:
    agent = bench.make_agent(card={"capabilities": {"extendedAgentCard": True}})
    ran = bench.run("card", "get", agent.url, "--extended", "--bearer", "T0p-Secret", "-o", "json", code=4)
    assert ran.error["code"] == "A2ACLI_ERR_AUTH_FAILED"
    assert not [call for call in agent.calls if "T0p-Secret" in str(call.request.headers)]


def signatures(bench: Bench) -> None:
    with program(bench, "mock", "--sign", "es256") as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        assert "Signature: valid" in bench.run("card", "get", url, "--verify", "--fetch-keys").out
        unknown = bench.run("card", "get", url, "--verify", code=2)
        assert "valid " not in unknown.out
    assert "Signatures: none" in bench.run("card", "get", bench.mock, "--verify").out


def catalog(bench: Bench) -> None:
    entry = {"identifier": "urn:example:mock", "url": f"{bench.mock}{CARD_PATH}"}
    url = bench.serve({"specVersion": "1.0", "entries": [entry]}, "/.well-known/ai-catalog.json")
    assert "message" in bench.run("send", f"{url}#mock", "--text", "echo hi", "-o", "json").json


def receiver(bench: Bench) -> None:
    made = bench.task("ask")
    with program(bench, "listen", "--count", "1", "--token", "secret", "-o", "json") as process:
        assert process.stdout is not None
        listening = json.loads(process.stdout.readline())["listening"]
        words = ("--url", listening["url"], "--token", "secret")
        bench.run("task", "push-config", "create", made["id"], "-a", bench.mock, *words)
        bench.task("blue", bench.mock, "--task-id", made["id"])
        delivery: dict[str, Any] = json.loads(process.stdout.readline())["delivery"]
    assert delivery["accepted"] is True
    assert delivery["taskId"] == made["id"]


def chat(bench: Bench) -> None:
    first, second = bench.run("chat", bench.mock, "-o", "json", stdin=b"ask\nblue\n").lines
    assert first["task"]["id"] == second["task"]["id"]
    assert second["task"]["status"]["state"] == "TASK_STATE_COMPLETED"


def grpc(bench: Bench) -> None:
    words = ("--transport", "GRPC", "--stream", "-o", "json")
    lines = bench.run("send", bench.mock, "--text", "report 2", *words).lines
    assert lines[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


def mutual_tls(bench: Bench) -> None:
    authority, files = trustme.CA(), bench.folder
    authority.cert_pem.write_to_path(files / "ca.pem")
    server = write_pem(files, "server", authority.issue_cert("127.0.0.1"))
    certificate, key = write_pem(files, "client", authority.issue_cert("client@agents.example"))
    url = bench.agent(tls=Tls(*server, files / "ca.pem"))
    trusted = {"SSL_CERT_FILE": str(files / "ca.pem")}
    words = ("send", url, "--text", "echo hi")
    bench.run(*words, "--client-cert", str(certificate), "--client-key", str(key), **trusted)
    refused = bench.cli(*words, **trusted)  # the server may close the connection before its TLS alert is read
    assert refused.code in (3, 4)
    assert "--client-cert" in refused.err


def openid_login(bench: Bench) -> None:
    agent = bench.agent("oidc")
    with a_user_who_allows():
        bench.run("auth", "login", agent, *LOGIN, "--redirect-port", "0", "--no-browser", BROWSER="/bin/false")
    bench.run("send", agent, "--text", "echo hi")


def authorization_in_a_task(bench: Bench) -> None:
    ran = bench.run("send", bench.slow_mock, "--text", "authorize")
    assert "State: auth-required\n" in ran.out
    assert "Authorize as the agent describes, then: a2a-inspect task get" in ran.out
    states = ["AUTH_REQUIRED", "COMPLETED"]

    async def answer(call: Call) -> web.StreamResponse:
        state = states.pop(0)
        return call.result({"task": task(state)} if call.rpc["method"] == "SendMessage" else task(state))

    url = bench.make_agent(answer).url
    begun = bench.run("send", url, "--text", "x", "-o", "json").json["task"]
    assert begun["status"]["state"] == "TASK_STATE_AUTH_REQUIRED"
    assert "State: completed" in bench.run("task", "get", "task-1", "-a", url, "--wait").out


def demo_server(bench: Bench) -> None:
    with program(bench, "demo-server", "--pace", "0") as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        assert bench.run("card", "get", url, "-o", "json").json["name"] == "Mock Agent"


def extensions(bench: Bench) -> None:
    url = bench.agent(profile=Profile(required=EXTENSION))
    words = ("send", url, "--text", "echo hi", "-o", "json")
    assert "message" in bench.run(*words, "--extension", EXTENSION).json
    ran = bench.run(*words, code=1)
    assert json.loads(ran.err.splitlines()[-1])["error"]["code"] == "ExtensionSupportRequiredError"


TIER_2 = (
    Requirement("A2ACLI_CARD_GET_002", "checks a card", validate),
    Requirement("A2ACLI_TASK_LIST_001", "lists tasks by page, state and context", task_list),
    Requirement("A2ACLI_TASK_SUBSCRIBE_001", "subscribes to a task", subscribe),
    Requirement("A2ACLI_TASK_SUBSCRIBE_002", "subscribes again; the first event is the task", subscribe_again),
    Requirement("A2ACLI_AUTH_005", "login with a device code", device_login),
    Requirement("A2ACLI_AUTH_006", "login with client credentials", client_credentials),
    Requirement("A2ACLI_AUTH_007", "private storage and use of tokens", stored_token),
    Requirement("A2ACLI_TX_004", "two or more transports", every_transport),
    Requirement("A2ACLI_VER_003", "compares operations with the capabilities on the card", capabilities),
    Requirement("A2ACLI_CONFIG_002", "order of configuration, shown with sources", precedence),
    Requirement("A2ACLI_DOWNLOAD_001", "saves artifacts", download),
    Requirement("A2ACLI_OUT_007", "protocol messages on stderr", debug),
    Requirement("A2ACLI_CONFORM_001", "smoke test of an agent (built-in suite, not the official TCK)", conformance),
    Requirement("A2ACLI_CLI_002", "completion scripts", completion),
    Requirement("A2ACLI_PUSH_001", "creates, gets, lists and deletes push configurations", push_configs),
)

TIER_3 = (
    Requirement("A2ACLI_CARD_GET_003", "extended card with credentials of the card", extended_card),
    Requirement("A2ACLI_AUTH_008", "no credentials without a declared scheme", undeclared_scheme),
    Requirement("A2ACLI_CARD_GET_004", "verifies signatures; none is not a failure", signatures),
    Requirement("A2ACLI_CARD_GET_005", "entry of a catalog as the agent", catalog),
    Requirement("A2ACLI_PUSH_002", "receives push notifications", receiver),
    Requirement("A2ACLI_CHAT_001", "chat with a context and a task", chat),
    Requirement("A2ACLI_TX_005", "gRPC", grpc),
    Requirement("A2ACLI_AUTH_009", "client certificates", mutual_tls),
    Requirement("A2ACLI_AUTH_010", "login with OpenID Connect", openid_login),
    Requirement("A2ACLI_AUTH_011", "authorization that a task requires", authorization_in_a_task),
    Requirement("A2ACLI_DEMO_SERVER_001", "mock agent", demo_server),
    Requirement("A2ACLI_VER_002", "declares extensions that the agent requires", extensions),
)
