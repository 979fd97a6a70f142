"""The commands for tunnels that are proposed."""

from __future__ import annotations

import pytest

from inspector.wire.receiver.listen_address import tunnels

URL = "http://127.0.0.1:4711"


@pytest.mark.parametrize(
    ("there", "commands"),
    [
        (set(), []),
        ({"ngrok"}, ["ngrok http http://127.0.0.1:4711"]),
        (
            {"ssh", "cloudflared", "vim"},
            ["cloudflared tunnel --url http://127.0.0.1:4711", "ssh -R 80:127.0.0.1:4711 nokey@localhost.run"],
        ),
    ],
)
def test_only_installed_programs_are_proposed(there: set[str], commands: list[str]):
    assert tunnels(URL, lambda name: f"/usr/bin/{name}" if name in there else None) == commands
