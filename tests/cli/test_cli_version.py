"""`version --verbose`: what a bug report needs, without what it must not contain."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from puppets import RunCli

import inspector

SECRET = "canary-9a41"


def test_the_version_alone_is_one_line(cli: RunCli):
    assert cli("version").out == f"a2a-inspect {inspector.__version__}\n"
    assert cli("version", "-o", "json").json == {"version": inspector.__version__}


def test_versions_extras_and_variables_are_listed(cli: RunCli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HOME", str(tmp_path))
    environment = {"A2ACLI_BEARER": SECRET, "HTTPS_PROXY": f"http://user:{SECRET}@proxy"}
    ran, facts = (cli("version", "--verbose", *more, **environment) for more in ((), ("-o", "json")))
    assert {"textual", "grpcio", "httpx"} <= facts.json["libraries"].keys()
    assert all(number[0].isdigit() for number in facts.json["libraries"].values())
    assert facts.json["extras"].keys() == {"images", "keyring", "mcp", "web"}
    assert {"A2ACLI_BEARER", "HTTPS_PROXY"} <= set(facts.json["variables"])
    assert facts.json["captures"] == "~/home/captures"
    for output in (ran.out, facts.out):
        assert SECRET not in output
        assert str(tmp_path) not in output
    assert ran.out.startswith(f"a2a-inspect {inspector.__version__}\nPython: 3.")


def test_a_library_or_an_extra_that_is_missing_is_named(cli: RunCli, monkeypatch: pytest.MonkeyPatch):
    def version_of(name: str) -> str:
        if name in ("mcp", "h11"):
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr("inspector.cli.version.version_of", version_of)
    facts = cli("version", "--verbose", "-o", "json").json
    assert facts["extras"]["mcp"] == "not installed"
    assert facts["extras"]["keyring"] == "(keyring 1.0)"
    assert (facts["libraries"]["h11"], facts["libraries"]["httpx"]) == ("missing", "1.0")
