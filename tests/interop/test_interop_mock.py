"""The mock agent with the official clients, over every transport of each client."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import environments
import httpx
import pytest
from inspector.sample_agents.authentication import SECRET, USER, Authenticator
from inspector.sample_agents.profile import ALL, Profile
from inspector.sample_agents.server import serve_in_thread

pytestmark = pytest.mark.interop

SECONDS = 60
WAYS = [(name, binding) for name, sdk in environments.SDKS.items() for binding in sdk.transports]
PATHS = {"v1": "", "v0_3": "/v0.3", "v0_2": "/v0.2"}

SEEN = {
    "message": "hello",
    "stream": ["submitted", "working", "artifact", "artifact", "artifact", "completed"],
    "asked": "input-required",
    "same context": True,
    "answered": "completed",
    "got": "completed",
    "push": ["hook", "t"],
    "canceled": "canceled",
}
"""The results of every client; `same context` is about a reply that contains the task id only."""

SINCE_0_3 = SEEN | {"subscribed": ["working", "canceled"], "extended card": True}
IN_1_0 = SINCE_0_3 | {"asked": "input_required", "push": ["hook", "t", 1, 0], "listed tasks": 1}
EXPECTED = {"v1": IN_1_0, "v0_3": SINCE_0_3, "v0_2": SEEN}


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    """The mock agent with every version that has an official client."""
    with serve_in_thread(profile=Profile(versions=("1.0", "0.3", "0.2"), capabilities=ALL)) as url:
        yield url


@pytest.mark.parametrize(("name", "binding"), WAYS, ids=[" ".join(way) for way in WAYS])
def test_the_official_clients_can_use_every_operation(mock: str, name: str, binding: str):
    script = Path(__file__).parent / "clients" / f"client_{name}.py"
    command = [environments.python(name), script, mock + PATHS[name], binding]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    refused = result.pop("unknown task")
    assert refused != "no error"
    assert name != "v1" or refused == "TaskNotFoundError"
    assert result == EXPECTED[name]


@pytest.fixture(scope="module")
def run_mock() -> Iterator[Callable[[str], str]]:
    """Start the mock agent with each kind of authentication at its first use."""
    with ExitStack() as ends:
        yield cache(lambda kind: ends.enter_context(serve_in_thread(authenticator=Authenticator(kind))))


def token_of(url: str) -> str:
    """Return a token of the authorization server of the mock."""
    form = {"grant_type": "client_credentials", "client_id": USER, "client_secret": SECRET}
    return str(httpx.post(f"{url}/oauth/token", data=form, trust_env=False).raise_for_status().json()["access_token"])


@pytest.mark.parametrize("binding", environments.SDKS["v1"].transports)
@pytest.mark.parametrize(
    ("kind", "scheme"),
    [("bearer", "bearer"), ("api-key:header", "api_key"), ("oauth2", "oauth2_device"), ("oidc", "oidc")],
)
def test_the_official_client_can_authenticate(run_mock: Callable[[str], str], kind: str, scheme: str, binding: str):
    url = run_mock(kind)
    script = Path(__file__).parent / "clients" / "authenticated_v1.py"

    def call(credential: str) -> Any:
        command = [environments.python("v1"), script, url, binding, scheme, credential]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    assert call(token_of(url) if kind in ("oauth2", "oidc") else SECRET) == {"message": "hello"}
    assert "error" in call("wrong")
