"""What a picture needs to come out the same every time: an agent that acts by the clock, and names that do not vary."""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Callable

from inspector.sample_agents.behaviours.base import TaskBehaviour
from inspector.sample_agents.behaviours.registry import Behaviours
from inspector.sample_agents.scenario.catalog import BUILT_IN, BUILT_IN_FOLDER
from inspector.sample_agents.scenario.running import split_text
from inspector.sample_agents.task_context import TaskContext

from inspector.protocol.lifecycle import State
from inspector.protocol.model import Artifact, Part

BEAT = 0.3
"""Seconds between two events of the staged report: far more than a wire needs, so their order is sure."""

CHUNKS = 10
"""How many chunks the staged report has."""

_STEPS = tomllib.loads((BUILT_IN_FOLDER / "report.toml").read_text("utf-8"))["steps"]
_REPORT = Part(text=next(step["text"] for step in _STEPS if "text" in step), media_type="text/markdown")


async def _report(task: TaskContext) -> None:
    began = time.monotonic()

    async def beat(number: int) -> None:
        """Wait for a beat counted from the start, so that delays do not add up."""
        await task.pause(max(0.0, began + number * BEAT - time.monotonic()))

    await beat(1)
    await task.status(State.WORKING, f"Writing the report in {CHUNKS} chunks.")
    for number, piece in enumerate(split_text(_REPORT, CHUNKS)):
        await beat(number + 2)
        await task.artifact(
            Artifact(artifact_id="report-1", name="report.md", parts=[piece]),
            append=number > 0,
            last_chunk=number == CHUNKS - 1,
        )
    await beat(CHUNKS + 2)
    await task.status(State.COMPLETED, "The report is written.")


STAGED = Behaviours(
    (
        BUILT_IN.find("echo"),
        TaskBehaviour(BUILT_IN.find("report").skill, _report),
        *(BUILT_IN.find(name) for name in ("file", "ask", "fail", "long", "push")),
    ),
    default=BUILT_IN.find("echo"),
)
"""The mock agent's behaviours, the report paced by the clock."""


def steady(svg: str) -> str:
    """Return a screenshot with everything that varies from run to run replaced by something of the same width."""
    for pattern, replacement in _VARYING:
        svg = pattern.sub(replacement, svg)
    return _steady_ids(_steady_classes(svg))


def _to_the_beat(match: re.Match[str]) -> str:
    """Round a time since the request to the beat that it belongs to."""
    seconds = round((float(match[0]) - BEAT / 5) / BEAT) * BEAT
    return f"{seconds:.3f}"


_VARYING: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "2026-11-20T13:35:50.637Z"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "13:35:50"),
    (re.compile(r"(?<=127\.0\.0\.1:)\d{1,5}"), lambda match: "41241"[: len(match[0])]),
    (re.compile(r"(?<=&#160;)\d{1,2}\.\d{3}(?=&#160;)"), _to_the_beat),
)


def _steady_classes(svg: str) -> str:
    """Name the classes of the picture after nothing: Textual makes their names from what the picture shows."""
    return re.sub(r"terminal-\d+", "terminal", svg)


_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{0,12})*(?![0-9a-f])")


def _steady_ids(svg: str) -> str:
    """Number the ids in the order in which they appear, each as wide as it was, cut ones included."""
    numbers: dict[str, int] = {}

    def steady_id(match: re.Match[str]) -> str:
        found = match[0]
        number = numbers.setdefault(found[:8], len(numbers) + 1)
        whole = f"{(number * 0x9E3779B1) % 2**32:08x}-4a2e-4c11-9b7e-{number * 0x1F3D5B79A1C3 % 2**48:012x}"
        return whole[: len(found)]

    return _ID.sub(steady_id, svg)
