"""`agents`: list, add, remove and check the agents that have a name."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from inspector import PROGRAM
from inspector.agents_file import (
    FILE_NAME,
    SETTINGS,
    NamedAgent,
    load_agents,
    paths_in,
    project_path,
    read_agents,
    store_agent,
    user_path,
)
from inspector.capture.secret_locations import mask_url
from inspector.cli.agent_options import options_of_agent
from inspector.cli.arguments import Invocation
from inspector.cli.errors import OK, usage
from inspector.cli.option_reader import FLAG
from inspector.cli.output import Output
from inspector.cli.styles import Role, Styled, mark
from inspector.findings.url import flaw
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.session.session import Session
from inspector.session.settings import settings_from
from inspector.settings_file import Value
from inspector.text.reference import with_scheme
from inspector.text.typed_path import looks_like_path, typed_path
from inspector.text.units import counted
from inspector.wire.discovery import split_entry

_NO_AGENT = f"No agent has a name. Add one: {PROGRAM} agents add NAME URL"
_SCHEMES = ("http://", "https://", "grpc://", "grpcs://")
_CHECK_SECONDS = 10.0
"""How long to wait for the card of an agent that has no timeout of its own."""


def list_agents(_: Invocation, out: Output) -> int:
    """Print the agents of all files."""
    named = load_agents()
    if out.json:
        out.document([_members(agent, is_default=agent.name == named.default) for agent in named.agents.values()])
        return OK
    if not named.agents:
        out.line(_NO_AGENT)
    width = max(map(len, named.agents), default=0)
    for agent in named.agents.values():
        default = Styled(" (default)", Role.SOFT) if agent.name == named.default else ""
        place = Styled(f"  {agent.path}:{agent.line}", Role.SOFT)
        out.line(f"{agent.name:<{width}}  {mask_url(agent.url)}", default, place)
    return OK


def _members(agent: NamedAgent, *, is_default: bool) -> dict[str, Any]:
    options = {setting.name: agent.values[setting.option] for setting in SETTINGS if setting.option in agent.values}
    options["url"] = mask_url(agent.url)
    headers = {"headers": dict(agent.headers)} if agent.headers else {}
    place = {"file": str(agent.path), "line": agent.line, "project": agent.is_project}
    return {"name": agent.name, "default": is_default, **options, **headers, **place}


def add(invocation: Invocation, out: Output) -> int:
    """Write an agent with the options of the command line to the file of the user or of the project."""
    given = vars(invocation.given)
    typed = {name: given[name] for name, source in invocation.given.sources.items() if source == FLAG}
    path, is_project = _chosen_path(invocation)
    agents, _ = read_agents(path, is_project=is_project)
    if given["name"] in agents:
        command = f"{PROGRAM} agents remove {given['name']}{' --project' if is_project else ''}"
        raise usage(f"{path} has an agent {given['name']!r} already.", f"Remove it: {command}")
    members: dict[str, Value] = {"url": _stored_reference(given["url"], path.parent, is_project=is_project)}
    for setting in SETTINGS:
        value = typed.get(setting.option)
        if setting.option != "reference" and value:
            members[setting.name] = value
    headers = dict(typed.get("headers", ()))
    store_agent(path, given["name"], {**members, **({"headers": headers} if headers else {})}, is_project=is_project)
    out.field("Added", f"{given['name']} in {path}")
    return OK


def _stored_reference(reference: str, folder: Path, *, is_project: bool) -> str:
    """Return a URL, or the path of a file of the current folder as it is written into a file in another folder.

    The file of a project has a relative path, which is valid in each copy of the project.
    """
    path = ""
    try:
        for path, rest in paths_in(reference):
            if (found := typed_path(path)).is_file():
                return f"{os.path.relpath(found, folder) if is_project else found.absolute()}{rest}"
    except OSError:  # a path that no file can have, which `store_agent` reports
        return reference
    if looks_like_path(path):
        raise usage(f"The file {path} does not exist.", "Name the file of a card or of a catalog, or a URL.")
    url = with_scheme(split_entry(reference)[0])
    why = flaw(url) or ("" if url.lower().startswith(_SCHEMES) else "its scheme is not http, https, grpc or grpcs")
    if why:
        hint = "Write a URL such as https://agent.example, or the file of a card or of a catalog."
        raise usage(f"{mask_url(reference)!r} is not the URL of an agent: {why}.", hint)
    return reference


def remove(invocation: Invocation, out: Output) -> int:
    """Remove an agent from the file of the user or of the project."""
    name = invocation.given.name
    path, is_project = _chosen_path(invocation)
    agents, _ = read_agents(path, is_project=is_project)
    if name not in agents:
        raise usage(f"{path} has no agent {name!r}.", f"It has: {', '.join(agents) or 'none'}.")
    store_agent(path, name, None, is_project=is_project)
    out.field("Removed", f"{name} from {path}")
    return OK


def _chosen_path(invocation: Invocation) -> tuple[Path, bool]:
    is_project = bool(invocation.given.project)
    return (project_path() or Path(FILE_NAME).absolute() if is_project else user_path()), is_project


def check(invocation: Invocation, out: Output) -> int:
    """Fetch the card of each agent; raises `FaultError` if one has none."""
    named = load_agents()
    names = invocation.given.names or list(named.agents)
    if unknown := [name for name in names if name not in named.agents]:
        raise usage(f"{unknown[0]!r} is not the name of an agent.", f"Defined: {', '.join(named.agents) or 'none'}.")
    results = asyncio.run(_check_all(named.agents[name] for name in names))
    if out.json:
        out.document(results)
    else:
        if not results:
            out.line(_NO_AGENT)
        for result in results:
            words = result["problem"] or f"{result['card']}, A2A {result['protocolVersion']} over {result['transport']}"
            out.field(result["name"], mark(not result["problem"]), f" {words}")
            if result["warning"]:
                out.warn(f"{result['name']}: {result['warning']}")
    failed = [result for result in results if result["problem"]]
    if failed:
        first = f"{failed[0]['name']}: {failed[0]['problem']}"
        seen = f"{len(failed)} of {counted(len(results), 'agent')} failed. The first: {first}"
        raise FaultError(
            Fault(Whose.AGENT, FaultCode.CHECK_FAILED, seen, f"{PROGRAM} doctor NAME checks an agent step by step.")
        )
    return OK


async def _check_all(agents: Iterable[NamedAgent]) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="a2a-inspect-") as folder:
        checks = [_check_one(agent, Path(folder, str(number))) for number, agent in enumerate(agents)]
        return list(await asyncio.gather(*checks))


async def _check_one(agent: NamedAgent, capture: Path) -> dict[str, Any]:
    """Return the name of the card and the interface in use, or the problem.

    The warning is about what the definition asks for and the card does not declare, or about a mistake in the card.
    """
    found = {
        "name": agent.name,
        "url": mask_url(agent.url),
        "card": "",
        "protocolVersion": "",
        "transport": "",
        "warning": "",
        "problem": "",
    }
    try:
        options = options_of_agent(agent)
        session = Session(capture, settings_from(options))
    except FaultError as error:
        return {**found, "problem": error.fault.sentence()}
    seconds = options.timeout or _CHECK_SECONDS
    try:
        async with asyncio.timeout(seconds):
            connection = await session.connect(agent.url)
        choice = session.choice
        interface = {"protocolVersion": choice.dialect.version, "transport": choice.binding.name}
        mistake = connection.found.mistake
        warning = choice.reason if choice.undeclared else f"the card has a mistake: {mistake}" if mistake else ""
        return {**found, "card": connection.card.name, **interface, "warning": warning}
    except FaultError as error:
        return {**found, "problem": error.fault.seen}
    except TimeoutError:
        return {**found, "problem": f"no card within {seconds:g} s"}
    finally:
        await session.close()
