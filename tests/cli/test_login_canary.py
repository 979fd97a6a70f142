"""A login leaves no secret anywhere: capture, WAL, output, state, command lines of processes and the browser."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from canary import leaks
from login_canary import ACCESS, CLIENT, GIVEN, REFRESH, SECRET, Provider, command_lines
from puppets import SECONDS, RunCli, ServerThread

BROWSER = """
import sys, urllib.request
open(sys.argv[1], "w").write(" ".join(sys.argv))
urllib.request.urlopen(sys.argv[2]).read()
"""
LOGIN = ("auth", "login", "--client-id", CLIENT, "--client-secret", "env:THE_SECRET", "--redirect-port", "0", "--debug")


@pytest.fixture
def provider(server_thread: ServerThread) -> Iterator[Provider]:
    provider = Provider()
    with server_thread.serve(provider.handle) as provider.url:
        yield provider


def test_a_login_in_a_browser_leaves_no_secret(provider: Provider, tmp_path: Path):
    seen, browser, opened = tmp_path / "files", tmp_path / "browser.py", tmp_path / "opened"
    seen.mkdir()
    browser.write_text(BROWSER)
    found: list[str] = []

    def look() -> None:
        secrets = [*GIVEN, *provider.learned]
        found.extend(leaks(seen, *secrets))
        found.extend(f"a command line has {secret}" for secret in secrets if secret.encode() in command_lines())

    provider.look = look
    environment = {
        **os.environ,
        "A2A_INSPECT_HOME": str(seen / "home"),
        "THE_SECRET": SECRET,
        "BROWSER": f"{sys.executable} {browser} {opened} %s",
    }
    words = [*LOGIN, "-a", provider.url, "--flow", "authorizationCode", "--store", "none"]
    ran = subprocess.run(
        [sys.executable, "-m", "inspector.cli", *words, "--capture", str(seen / "capture.a2a")],
        env=environment,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    assert provider.requests[-1] == "/keys"
    assert len(provider.learned) == 3, "the code verifier, the credentials of the client, the ID token"
    look()
    output = (ran.stdout + ran.stderr).decode() + opened.read_text()
    found += [secret for secret in (*GIVEN, *provider.learned) if secret in output]
    assert found == []
    assert provider.url in opened.read_text()
    assert b"code_verifier" in (seen / "capture.a2a").read_bytes()


def test_stored_tokens_are_in_their_file_only(provider: Provider, cli: RunCli, tmp_path: Path):
    """Also when the server repeats them in errors, and when they are renewed."""
    done = cli(*LOGIN, "-a", provider.url, "--flow", "deviceCode", "--store", "file", THE_SECRET=SECRET)
    assert done.code == 0, done.err
    kept = (tmp_path / "home" / "state" / "logins.json").read_text()
    assert [secret for secret in (*GIVEN, *provider.learned) if secret in kept] == [ACCESS, REFRESH]
    assert "env:THE_SECRET" in kept
    words = ("--text", "hi", "--debug", "--verbose", "--findings", "--capture", str(tmp_path / "capture.a2a"))
    sent = cli("send", provider.url, *words, THE_SECRET=SECRET)
    assert sent.code == 4
    assert provider.requests[-3:] == ["/token", "/.well-known/agent-card.json", "/rpc"]
    assert "Bearer ****" in sent.err
    left = cli("auth", "logout", provider.url, "--debug", THE_SECRET=SECRET)
    assert "not revoked" in left.out
    output = done.out + done.err + sent.out + sent.err + left.out + left.err
    assert [secret for secret in (*GIVEN, *provider.learned) if secret in output] == []
    assert leaks(tmp_path, *GIVEN, *provider.learned) == [], "logged out: the file has no token any more"
