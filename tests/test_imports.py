"""The modules that each package loads, by `sys.modules` of a new interpreter."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys

import grimp
import pytest

import inspector
from inspector import sample_agents
from inspector.tui.views.registry import VIEWS

MODULES = sorted(
    found.name
    for package in (inspector, sample_agents)  # the second lies elsewhere in an editable installation
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not found.name.endswith(".__main__")  # which is run, not imported
)

ROOMS = sorted({".".join(name.split(".")[:2]) for name in MODULES} - {"inspector.tui"})
"""The packages of `inspector`, except for the only package that may load Textual."""

FORBIDDEN = {
    "inspector.protocol": {"asyncio", "httpx", "aiohttp", "sqlite3"},
    "inspector.findings": {"asyncio", "httpx", "aiohttp", "sqlite3"},
    "inspector.capture": {"pydantic", "httpx"},
    "inspector.sample_agents": {"httpx", "sqlite3"},
}
"""The modules that importing a whole package must not load, besides Textual."""

REPORT = """
import importlib, json, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
json.dump(sorted(sys.modules), sys.stdout)
"""


def modules_of(room: str) -> list[str]:
    return [name for name in MODULES if name == room or name.startswith(f"{room}.")]


def loaded_by(modules: list[str]) -> set[str]:
    """Return the packages that are loaded with some modules."""
    return {name.partition(".")[0] for name in all_loaded_by(modules)}


def all_loaded_by(modules: list[str]) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", REPORT, json.dumps(modules)], check=False, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return set(json.loads(ran.stdout))


@pytest.mark.parametrize("room", FORBIDDEN)
def test_each_package_loads_only_what_it_may(room: str):
    assert not loaded_by(modules_of(room)) & ({"textual"} | FORBIDDEN[room])


def test_only_the_tui_loads_textual():
    """One process loads all packages, because each of them needs most of the others."""
    modules = [name for room in ROOMS for name in modules_of(room)]
    assert "textual" not in loaded_by(modules), [room for room in ROOMS if "textual" in loaded_by(modules_of(room))]


def test_no_module_loads_grpc_or_protobuf_before_an_agent_is_called_over_it():
    assert not loaded_by(MODULES) & {"grpc", "google"}


def test_the_first_frame_is_drawn_before_the_session_is_loaded():
    assert not loaded_by(["inspector.cli.main", "inspector.tui.app"]) & {"pydantic", "httpx", "aiohttp", "grpc"}


def test_aiohttp_is_loaded_with_the_first_webhook_and_not_with_a_session():
    faces = [
        "inspector.session.session",
        "inspector.session.replay.recording",
        "inspector.cli.send",
        "inspector.tui.app",
    ]
    assert "aiohttp" not in loaded_by(faces)


def test_the_card_is_shown_before_calls_webhooks_and_the_other_views_are_loaded():
    loaded = all_loaded_by(["inspector.cli.main", "inspector.tui.app", "inspector.tui.sessions"])
    assert loaded >= {"inspector.session.connection", "inspector.findings.lint", "inspector.tui.views.agent"}
    views = {entry.path.partition(":")[0] for entry in VIEWS if entry.id != "agent"}
    parts = {"call_factory", "exchange", "push.judge", "replay.recording", "doctor.doctor"}
    others = {"markdown_it", "msgspec", "yaml", "inspector.tui.screens.form"}
    assert not loaded & (views | {f"inspector.session.{part}" for part in parts} | others)


def in_circles(imports: dict[str, set[str]]) -> set[str]:
    """Return the modules that are part of an import cycle, or between two cycles."""
    left = dict(imports)
    while True:
        wanted = set().union(*left.values()) if left else set()
        kept = {name: found & left.keys() for name, found in left.items() if found & left.keys() and name in wanted}
        if kept == left:
            return set(left)
        left = kept


def test_there_are_no_import_cycles():
    graph = grimp.build_graph("inspector", "sample_agents", cache_dir=None)  # with imports for type checking only
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert imports["inspector.session.session"] > {"inspector.session.call"}
    assert in_circles(imports) == set()


def test_a_cycle_is_found_without_the_modules_that_lead_to_it():
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == {"b", "c"}


def test_all_modules_are_found():
    expected = {"inspector.protocol.model", "inspector.protocol.dialects.v1_0", "inspector.sample_agents.behaviours"}
    assert expected <= set(MODULES)
    assert FORBIDDEN.keys() <= set(ROOMS)


def test_a_loaded_package_is_noticed():
    assert {"asyncio", "sqlite3"} <= loaded_by(["inspector", "asyncio", "sqlite3"])
