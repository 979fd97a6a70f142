"""Check files for tests: texts, and documents made of values."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from inspector.session.check.document.suites import Document
from inspector.session.check.plan import PlannedTest
from inspector.session.check.reading import CheckFile, parse_document, read_check_files
from inspector.session.check.source import CheckFileError

HEAD = 'acts_version: "1.0"\nspec_version: "1.0"\n'
CARD_STEP = {"id": "card", "operation": "get_agent_card"}
TEST = """\
suites:
  - id: s
    name: Suite
    tests:
      - id: T
        name: Test
        level: must
        steps:
          - id: get
            operation: get_task
            params: {id: x}
            expect:
              body:
"""
"""A file with one test, up to the assertion about the body."""


def test_of(*steps: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a test with these steps, or with one that fetches the card."""
    return {"id": "T-1", "name": "A test", "level": "must", "steps": list(steps) or [CARD_STEP], **members}


test_of.__test__ = False  # type: ignore[attr-defined]


def suite_of(*tests: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a suite with these tests."""
    return {"id": "suite", "name": "A suite", "tests": list(tests), **members}


def file_of(*tests: dict[str, Any], **members: Any) -> str:
    """Return the text of a check file with these tests, as JSON."""
    return json.dumps({"acts_version": "1.0", "spec_version": "1.0", "suites": [suite_of(*tests)], **members})


def parsed(text: str, name: str = "a.yaml") -> Document:
    """Parse a text."""
    return parse_document(text, name)


def planned(*steps: dict[str, Any], **members: Any) -> PlannedTest:
    """Return a parsed test with its suite and its file."""
    document = parsed(file_of(test_of(*steps, **members)), "a.json")
    suite = document.suites[0]
    return PlannedTest(CheckFile(Path("a.json"), document, {}), suite, suite.tests[0])


def problems_of(text: str, name: str = "a.yaml") -> list[str]:
    """Return the problems of a text, which must have at least one."""
    try:
        parse_document(text, name)
    except CheckFileError as error:
        return [str(problem) for problem in error.problems]
    raise AssertionError("the text was read")


def send(text: str, /, name: str = "send", **members: Any) -> dict[str, Any]:
    """Return a step that sends a text."""
    return {"id": name, "operation": "send_message", "params": {"message": {"parts": [{"text": text}]}}, **members}


def stream(text: str, /, name: str = "stream", **members: Any) -> dict[str, Any]:
    """Return a step that sends a text and reads the stream."""
    members = {"expect_stream": {"min_count": 1}, **members}
    return {**send(text, name, **members), "operation": "send_streaming_message"}


def get(task: str = "{{send.id}}", /, name: str = "get", **members: Any) -> dict[str, Any]:
    """Return a step that gets a task."""
    return {"id": name, "operation": "get_task", "params": {"id": task}, **members}


def raw(path: str = "/", /, name: str = "raw", **members: Any) -> dict[str, Any]:
    """Return a step that sends an HTTP request; the members of the request are `method`, `headers`, `body`..."""
    names = ("method", "headers", "body", "body_raw")
    request = {name: members.pop(name) for name in names if name in members}
    return {"id": name, "raw": {"method": "POST", "path": path, **request}, **members}


ID = {"id": "task.id"}
"""A capture of the id of the task in a response to SendMessage."""


def body_of(text: str) -> Any:
    """Return the value of an assertion that is written in YAML."""
    document = parsed(HEAD + TEST + textwrap.indent(text, " " * 16))
    return document.suites[0].tests[0].steps[0].expect.body


def problems_of_files(tmp_path: Path, **texts: str | bytes) -> list[str]:
    """Write files, read the first, and return its problems."""
    paths = []
    for name, text in texts.items():
        path = tmp_path / f"{name}.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        paths.append(path)
    with pytest.raises(CheckFileError) as caught:
        read_check_files(paths[:1])
    return [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]


def yaml_of(name: str, **members: Any) -> str:
    """Return a file with one test, whose id is the name."""
    test = test_of(id=name)
    suites = [{"id": name, "name": name, "tests": [test]}]
    return yaml.safe_dump({"acts_version": "1.0", "spec_version": "1.0", "suites": suites, **members})
