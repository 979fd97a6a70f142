"""A login leaves no secret anywhere: capture, WAL, output, state, command lines of processes and the browser."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from canary import leaks
from certificates import encrypted_key, write_pem
from login_canary import ACCESS, CLIENT, GIVEN, REFRESH, SECRET, Provider, command_lines
from puppets import SECONDS, RunCli, ServerThread

PASSPHRASE = "canary-4a7d-passphrase"
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


def test_a_login_with_a_client_certificate_leaves_no_secret(
    server_thread: ServerThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The passphrase, the private key and the device code, with `look` while the login runs."""
    authority, seen = trustme.CA(), tmp_path / "files"
    seen.mkdir()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(tmp_path / "ca.pem"))
    authority.issue_cert("127.0.0.1").configure_cert(context)
    context.verify_mode = ssl.CERT_REQUIRED
    client = authority.issue_cert("client@agents.example")
    certificate, key = write_pem(tmp_path, "client", client)
    key.write_bytes(encrypted_key(client, PASSPHRASE))
    private = client.private_key_pem.bytes().decode().splitlines()[1]
    environment = {
        **os.environ,
        "A2A_INSPECT_HOME": str(seen / "home"),
        "THE_SECRET": SECRET,
        "OF_THE_KEY": PASSPHRASE,
        "SSL_CERT_FILE": str(tmp_path / "ca.pem"),
        "TMPDIR": str(seen),
    }
    words = ["--client-cert", str(certificate), "--client-key", str(key), "--client-passphrase", "env:OF_THE_KEY"]
    flow = ["--flow", "deviceCode", "--store", "none", "--capture", str(seen / "capture.a2a")]
    provider, found = Provider(), []

    def look() -> None:
        secrets = [*GIVEN, *provider.learned, PASSPHRASE, private]
        found.extend(leaks(seen, *secrets))
        found.extend(f"a command line has {secret}" for secret in secrets if secret.encode() in command_lines())

    provider.look = look
    with server_thread.serve(provider.handle, context) as provider.url:
        ran = subprocess.run(
            [sys.executable, "-m", "inspector.cli", *LOGIN, "-a", provider.url, *words, *flow],
            env=environment,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr.decode()
    assert "/device" in provider.requests
    look()
    output = (ran.stdout + ran.stderr).decode()
    found += [secret for secret in (*GIVEN, *provider.learned, PASSPHRASE, private) if secret in output]
    assert found == []


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
