"""An agent that repeats every secret that it receives, and sends secrets of its own at every location."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiohttp import web
from puppets import Call, Puppet, task

HELD = "canary-4d1f7c-held"
"""A secret that the user has: credentials, the agent URL, the webhook."""
LOCATED = "canary-8a2e9b-located"
"""A secret that only its location reveals: nobody told the inspector."""
URLS = (
    f"https://u:{LOCATED}@files.example/a.pdf",
    f"https://files.example/a.pdf?x=1&token={LOCATED}",
    f"https://files.example/a.pdf?X-Amz-Signature={LOCATED}&y=2",
    f"https://files.example/a#access_token={LOCATED}",
)
MEMBERS = (
    *("authorization", "Authorization", "api_key", "apiKey", "x-api-key", "password", "client_secret", "cookie"),
    *("access_token", "refreshToken", "token", "authToken", "secret", "jwt", "credentials", "Set-Cookie"),
)
HIDDEN: dict[str, Any] = {"metadata": dict.fromkeys(MEMBERS, LOCATED), "parts": [{"url": url} for url in URLS]}
SEEN = json.dumps(HIDDEN)


async def parrot(call: Call) -> web.StreamResponse:
    """Repeat everything that was received, and send secrets at every location."""
    heard = f"{dict(call.request.headers)} {call.request.path_qs} {call.body.decode()}"
    artifact = {"artifactId": "a", "name": heard[:3000], "parts": [{"text": heard}, *HIDDEN["parts"]]}
    echo = {**task("COMPLETED"), "artifacts": [artifact], "metadata": HIDDEN["metadata"]}
    if "Push" in call.rpc["method"]:
        config = {"taskId": "t", "id": "c", "url": URLS[0], "token": LOCATED}
        return call.result({**config, "authentication": {"scheme": "Bearer", "credentials": LOCATED}})
    if "Streaming" in call.rpc["method"]:
        return await call.stream({"task": echo}, f": {heard}\n\n".encode())
    return call.result(echo if call.rpc["method"] == "GetTask" else {"task": echo})


def bytes_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Return the name and the bytes of every file."""
    for path in folder.rglob("*"):
        raw = b""
        with suppress(FileNotFoundError):  # a temporary file, which was renamed meanwhile
            raw = path.read_bytes() if path.is_file() else b""
        yield str(path.relative_to(folder)), raw


def leaks(folder: Path, *secrets: str) -> list[str]:
    return [
        f"{name}: {raw[max(0, raw.find(secret.encode()) - 80) :][:160]!r}"
        for name, raw in bytes_below(folder)
        for secret in secrets
        if secret in name or secret.encode() in raw
    ]


def secret_card() -> dict[str, Any]:
    return {
        "description": f"docs at {URLS[1]}",
        "documentationUrl": URLS[0],
        "securitySchemes": {"key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Our-Key"}}},
        "capabilities": {"streaming": True, "pushNotifications": True, "extensions": [{"uri": "u", "params": HIDDEN}]},
    }


def with_secrets(agent: Puppet) -> str:
    return f"{agent.url.replace('://', f'://me:{HELD}@')}/?access_token={HELD}"
