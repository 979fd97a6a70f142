"""Make screenshots reproducible: an agent with fixed times, and constant ids, times and ports."""

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
"""Seconds between two events of the report: long enough for a fixed order of streamed and pushed events."""

CHUNKS = 10
"""The number of chunks of the report."""

_STEPS = tomllib.loads((BUILT_IN_FOLDER / "report.toml").read_text("utf-8"))["steps"]
_REPORT = Part(text=next(step["text"] for step in _STEPS if "text" in step), media_type="text/markdown")


async def _report(task: TaskContext) -> None:
    began = time.monotonic()

    async def beat(number: int) -> None:
        """Wait until a multiple of `BEAT` after the start, so that delays do not add up."""
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
        *(BUILT_IN.find(name) for name in ("file", "ask", "fail", "long", "push", "careless")),
    ),
    default=BUILT_IN.find("echo"),
)
"""The behaviours of the mock agent, with fixed times in the report."""


def steady(svg: str) -> str:
    """Return a screenshot in which everything that varies between runs is replaced by a text of the same width."""
    for pattern, replacement in _VARYING:
        svg = pattern.sub(replacement, svg)
    return _steady_ids(_steady_classes(svg))


def _to_the_beat(match: re.Match[str]) -> str:
    """Round a time since the request to a multiple of `BEAT`."""
    seconds = round((float(match[0]) - BEAT / 5) / BEAT) * BEAT
    return f"{seconds:.3f}"


_VARYING: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "2026-11-20T13:35:50.637Z"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "13:35:50"),
    (re.compile(r"(?<=127\.0\.0\.1:)\d{1,5}"), lambda match: "41241"[: len(match[0])]),
    (re.compile(r"(?<=&#160;)\d{1,2}\.\d{3}(?=&#160;)"), _to_the_beat),
    (re.compile(r"\b\d{1,3}(?=&#160;ms\b)"), lambda match: "120"[: len(match[0])]),
    (re.compile(r"\b\d+(?:\.\d)?(?=/s\b)"), lambda match: "3.3"[: len(match[0])]),
)


def _steady_classes(svg: str) -> str:
    """Replace the names of classes, which Textual derives from the content of the screenshot."""
    return re.sub(r"terminal-\d+", "terminal", svg)


_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{0,12})*(?![0-9a-f])")


def _steady_ids(svg: str) -> str:
    """Replace ids by numbered ids of the same width, in the order in which they appear."""
    numbers: dict[str, int] = {}

    def steady_id(match: re.Match[str]) -> str:
        found = match[0]
        number = numbers.setdefault(found[:8], len(numbers) + 1)
        whole = f"{(number * 0x9E3779B1) % 2**32:08x}-4a2e-4c11-9b7e-{number * 0x1F3D5B79A1C3 % 2**48:012x}"
        return whole[: len(found)]

    return _ID.sub(steady_id, svg)
