"""What the Checks view shows without a check file: what check files are, an example, and how to load one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inspector.tui.keys import key_of
from inspector.tui.render.text_lines import BLANK, Paragraph, without_head

EXAMPLE = """\
acts_version: "1.0"
spec_version: "1.0"
suites:
  - id: greeting
    name: Greeting
    tests:
      - id: GREETING-001
        name: The agent answers
        level: must
        steps:
          - id: send
            operation: send_message
            params:
              message:
                parts: [{text: hello}]
            expect: {status: 200}
"""
"""A complete check file."""
_WHAT = (
    "A check file contains tests of an agent: requests, and what the responses must contain. It is YAML or JSON in the "
    "format of ACTS, the A2A Conformance Test Specification."
)
_COMMAND = "The command a2a-inspect check FILE -a URL runs the same tests without the app, for example in CI."
_NO_AGENT = "No agent is connected. Press {} to connect to one; tests can only run with an agent."
_CAPTURE = "This is a capture, without an agent. Tests can only run with an agent: press {} to connect to one."


def introduction(recent: Sequence[Path], *, connected: bool, recorded: bool) -> list[Paragraph]:
    """Return the introduction, with the check files that were loaded before."""
    lines = [without_head("No check file is loaded.", "line--strong"), without_head(_WHAT), BLANK]
    lines.append(without_head(f"Press {key_of('check-file')} to load a check file."))
    if not connected:
        problem = (_CAPTURE if recorded else _NO_AGENT).format(key_of("connect"))
        lines.append(without_head(problem, "line--warning"))
    if recent:
        lines += [BLANK, without_head("Loaded before", "line--strong"), *(without_head(f"  {path}") for path in recent)]
    lines += [BLANK, without_head("Example", "line--strong")]
    lines += [without_head(f"  {line}", "line--soft") for line in EXAMPLE.splitlines()]
    return [*lines, BLANK, without_head(_COMMAND, "line--soft")]
