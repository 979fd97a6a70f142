"""Run the compatibility kits against the mock agent: `python tests/sample_agents/tck.py [--kit DIR] [--kit-0-3 DIR]`.

A kit is a checkout of a2aproject/a2a-tck, installed as its README describes, with its environment in `.venv`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from inspector.sample_agents.profile import ALL, Profile
from inspector.sample_agents.server import serve_in_thread

CRASHES = {"TestRestStreaming::test_streaming_content_type"}
"""Test cases that fail because of a defect of the kit (docs/conformance.md)."""


@dataclass(frozen=True)
class Run:
    """One run of the kit for 1.0: the profile of the agent and further arguments of the kit."""

    name: str
    profile: Profile
    arguments: Sequence[str] = ()


RUNS = (
    Run("all capabilities", Profile(("1.0",), "1.0.0", ALL)),
    Run("no capabilities", Profile(("1.0",), "1.0.0", frozenset())),
    Run(
        "a required extension",
        Profile(("1.0",), "1.0.0", ALL, "urn:a2a:tck:required-extension"),
        ("--", "-k", "ExtensionRequired"),
    ),
)


def run_kit(kit: Path, arguments: Sequence[str]) -> int:
    """Run a kit and return its exit code."""
    kit = kit.resolve()
    return subprocess.run([kit / ".venv" / "bin" / "python", "run_tck.py", *arguments], cwd=kit, check=False).returncode


def failed_cases(report: Path) -> set[str]:
    """Return the test cases that failed, by class and name."""
    cases = ElementTree.parse(report).iter("testcase")
    bad = (case for case in cases if case.find("failure") is not None or case.find("error") is not None)
    return {f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}" for case in bad}


def run_kit_1_0(kit: Path, test_run: Run) -> bool:
    """Run the kit for 1.0 once, print the counts and failures, and return whether nothing failed."""
    with serve_in_thread(profile=test_run.profile) as url:
        run_kit(kit, ["--sut-host", url, *test_run.arguments])
    requirements = json.loads((kit / "reports" / "compatibility.json").read_text())["per_requirement"]
    counts = Counter((requirement["level"], requirement["status"]) for requirement in requirements.values())
    summary = (f"{count} {level} {status}" for (level, status), count in sorted(counts.items()))
    print(f"\n{test_run.name}: {', '.join(summary)}")
    wrong = {
        name: requirement["errors"] for name, requirement in requirements.items() if requirement["status"] == "FAIL"
    }
    failed = failed_cases(kit / "reports" / "junitreport.xml") - CRASHES
    for name, errors in wrong.items():
        print(f"  {name}: {errors}")
    for case in sorted(failed):
        print(f"  failed: {case}")
    return not wrong and not failed


def run_kit_0_3(kit: Path) -> bool:
    """Run the mandatory tests of the kit for 0.3 and return whether they passed."""
    with serve_in_thread(profile=Profile(("0.3",))) as url:
        return run_kit(kit, ["--sut-url", url, "--category", "mandatory"]) == 0


def main() -> int:
    """Run the kits that are named; the exit code is 1 if a test failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kit", type=Path, metavar="DIR", help="the kit for 1.0 (branch 1.0-dev)")
    parser.add_argument("--kit-0-3", type=Path, metavar="DIR", help="the kit for 0.3 (tag 0.3.0.beta4)")
    given = parser.parse_args()
    if given.kit is None and given.kit_0_3 is None:
        parser.error("name the checkout of a kit; see docs/conformance.md")
    passed = [run_kit_1_0(given.kit, test_run) for test_run in RUNS] if given.kit else []
    if given.kit_0_3:
        passed.append(run_kit_0_3(given.kit_0_3))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
