"""Run the compatibility kits against the mock agent: `python tests/sample_agents/tck.py [--kit DIR] [--kit-0-3 DIR]`.

A kit is a checkout of a2aproject/a2a-tck, made ready as its README says, with its environment in `.venv`.
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
"""What breaks inside the kit, whatever agent it runs against (docs/conformance.md says how)."""


@dataclass(frozen=True)
class Run:
    """One run of the kit for 1.0: what the agent is, and what of the kit is run."""

    name: str
    profile: Profile
    words: Sequence[str] = ()


RUNS = (
    Run("all capabilities", Profile(("1.0",), "1.0.0", ALL)),
    Run("no capabilities", Profile(("1.0",), "1.0.0", frozenset())),
    Run(
        "a required extension",
        Profile(("1.0",), "1.0.0", ALL, "urn:a2a:tck:required-extension"),
        ("--", "-k", "ExtensionRequired"),
    ),
)


def run(kit: Path, words: Sequence[str]) -> int:
    """Run a kit to its end, with what it says, and return its exit code."""
    kit = kit.resolve()
    return subprocess.run([kit / ".venv" / "bin" / "python", "run_tck.py", *words], cwd=kit, check=False).returncode


def failed_cases(report: Path) -> set[str]:
    """Return the test cases that failed, by class and name."""
    cases = ElementTree.parse(report).iter("testcase")
    bad = (case for case in cases if case.find("failure") is not None or case.find("error") is not None)
    return {f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}" for case in bad}


def judged(kit: Path, one: Run) -> bool:
    """Run the kit for 1.0 once, print what it came to, and say whether nothing failed."""
    with serve_in_thread(profile=one.profile) as url:
        run(kit, ["--sut-host", url, *one.words])
    requirements = json.loads((kit / "reports" / "compatibility.json").read_text())["per_requirement"]
    counts = Counter((told["level"], told["status"]) for told in requirements.values())
    print(
        f"\n{one.name}: {', '.join(f'{count} {level} {status}' for (level, status), count in sorted(counts.items()))}"
    )
    wrong = {name: told["errors"] for name, told in requirements.items() if told["status"] == "FAIL"}
    failed = failed_cases(kit / "reports" / "junitreport.xml") - CRASHES
    for name, errors in wrong.items():
        print(f"  {name}: {errors}")
    for case in sorted(failed):
        print(f"  failed: {case}")
    return not wrong and not failed


def judged_0_3(kit: Path) -> bool:
    """Run the mandatory part of the kit for 0.3, and say whether all of it passed."""
    with serve_in_thread(profile=Profile(("0.3",))) as url:
        return run(kit, ["--sut-url", url, "--category", "mandatory"]) == 0


def main() -> int:
    """Run the kits that are given, and say whether nothing failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kit", type=Path, metavar="DIR", help="the kit for 1.0 (branch 1.0-dev)")
    parser.add_argument("--kit-0-3", type=Path, metavar="DIR", help="the kit for 0.3 (tag 0.3.0.beta4)")
    given = parser.parse_args()
    if given.kit is None and given.kit_0_3 is None:
        parser.error("name a checkout of a kit; docs/conformance.md says which")
    verdicts = [judged(given.kit, one) for one in RUNS] if given.kit else []
    if given.kit_0_3:
        verdicts.append(judged_0_3(given.kit_0_3))
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
