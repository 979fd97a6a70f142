"""The options for an agent of `agents.toml` that is selected in the app."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from inspector.agents_file import load_agents, user_path
from inspector.cli.agent_options import options_of_selected
from inspector.cli.commands import main_parser
from inspector.options import Options
from inspector.protocol.errors import FaultError
from inspector.settings_file import settings_path

URL = "https://prod.example"
FILES = "https://files.example"


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A2A_INSPECT_HOME", str(tmp_path / "home"))
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "project")


def selected(definition: str = "", *, prior: Collection[str] = (), **base: Any) -> Options:
    """Return the options for the agent `prod` with this definition, in an app with these options."""
    user_path().write_text(f'[agents.prod]\nurl = "{URL}"\n{definition}\n')
    return options_of_selected(Options(**base), prior, load_agents().agents["prod"])


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("bearer", "secret"),
        ("basic", "user:secret"),
        ("api_key", "secret"),
        ("client_cert", Path("own.pem")),
        ("client_key", Path("own.key")),
        ("client_passphrase", "env:OWN"),
        ("headers", (("X-Key", "secret"),)),
        ("svc_params", (("X-Key", "secret"),)),
    ],
)
def test_credentials_of_the_app_are_not_for_another_agent(option: str, value: Any):
    assert getattr(selected(prior={option}, **{option: value}), option) == getattr(Options(), option)


def test_an_agent_has_the_credentials_of_its_definition(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("A2A_PROD", "secret-of-prod")
    options = selected('bearer = "env:A2A_PROD"\nheaders = { X-Team = "b" }', prior={"bearer"}, bearer="other")
    assert (options.reference, options.bearer, options.headers) == (URL, "secret-of-prod", (("X-Team", "b"),))


def test_only_origins_that_the_user_typed_are_trusted_for_another_agent():
    assert selected(f'trust = ["{FILES}"]', trust=("https://of-another-definition.example",)).trust == (FILES,)
    typed = selected(f'trust = ["{FILES}"]', prior={"trust"}, trust=("https://typed.example",))
    assert set(typed.trust) == {FILES, "https://typed.example"}


def test_options_of_another_definition_are_not_used():
    of_staging = {"a2a_version": "0.3", "transports": ("GRPC",), "public_url": "https://staging.example/hook"}
    options = selected(reference="https://staging.example", **of_staging)
    assert (options.a2a_version, options.transports, options.public_url) == ("", (), None)


def test_the_command_line_has_priority_over_the_definition_and_this_over_the_settings():
    settings_path().write_text('[connection]\ntimeout = "60s"\n[receiver]\nhost = "0.0.0.0"\n')
    assert selected().timeout == 60
    assert selected(prior={"timeout"}, timeout=5.0).timeout == 5
    definition = 'timeout = "30s"\nreceiver-host = "127.0.0.1"'
    assert selected(definition).timeout == 30
    assert selected(definition, prior={"timeout"}, timeout=5.0).timeout == 5
    assert selected(definition, receiver_host="0.0.0.0").receiver_host == "127.0.0.1"


def test_zero_on_the_command_line_is_a_value():
    user_path().write_text(f'[agents.prod]\nurl = "{URL}"\nreceiver-port = 9000\n')
    assert main_parser().read(["prod"], {}).receiver_port == 9000
    assert main_parser().read(["prod", "--receiver-port", "0"], {}).receiver_port == 0


def test_other_options_are_those_of_the_app():
    options = selected(theme="paper", read_only=True, insecure=True, keep_captures=7)
    assert (options.theme, options.read_only, options.insecure, options.keep_captures) == ("paper", True, True, 7)


def test_a_file_with_the_name_of_the_agent_is_not_opened():
    Path("prod").write_text("{}")
    assert selected().reference == URL


def test_the_credentials_of_an_agent_of_the_project_are_withheld_unless_its_origin_is_trusted(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("A2A_PROD", "secret")
    Path("agents.toml").write_text(f'[agents.prod]\nurl = "{URL}"\nbearer = "env:A2A_PROD"\n')
    agent = load_agents().agents["prod"]
    withheld = options_of_selected(Options(), (), agent)
    assert withheld.withheld
    assert withheld.named_by.endswith("agents.toml:2")
    of_another = options_of_selected(Options(trust=(URL,)), (), agent)
    assert of_another.withheld, "the origin is trusted by the definition of another agent"
    typed = options_of_selected(Options(trust=(URL,)), {"trust"}, agent)
    assert (typed.withheld, typed.named_by, typed.bearer) == (False, "", "secret")


def test_a_variable_that_is_not_set_is_an_error():
    with pytest.raises(FaultError, match="A2A_NOT_SET"):
        selected('bearer = "env:A2A_NOT_SET"')
