"""JUnit XML, which most CI systems read: a test suite for each suite and transport."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from inspector.session.check.plan import PlannedTest
from inspector.session.check.result import Counts, Failure, RunResult, TestResult
from inspector.session.check.status import Status
from inspector.session.check.trials import representatives

_INVALID = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow."""
_ELEMENTS = {Status.FAIL: "failure", Status.ERROR: "error"}


def write(run: RunResult) -> list[str]:
    """Return the document."""
    results = representatives(run.results)
    root = Element("testsuites", {"name": "a2a-inspect check", **_counts(results), "time": f"{run.seconds:.3f}"})
    suites: dict[tuple[str, str], list[TestResult]] = {}
    for result in results:
        suites.setdefault((result.suite.id, result.transport.value), []).append(result)
    for (name, transport), members in suites.items():
        seconds = sum(result.seconds for result in members)
        title = _text(f"{name} ({transport})")
        suite = SubElement(root, "testsuite", {"name": title, **_counts(members), "time": f"{seconds:.3f}"})
        for result in members:
            _add_case(suite, result)
    indent(root)
    return [f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n']


def _counts(results: list[TestResult]) -> dict[str, str]:
    counts = Counts.of(results)
    found = {"tests": counts.total, "failures": counts.failed, "errors": counts.errors, "skipped": counts.skipped}
    return {name: str(count) for name, count in found.items()}


def _add_case(suite: Element, result: TestResult) -> None:
    test = result.test
    name, group = _text(f"{test.id} {test.name}"), f"{result.suite.id}.{result.transport}"
    case = SubElement(suite, "testcase", name=name, classname=_text(group), time=f"{result.seconds:.3f}")
    case.set("file", _text(str(result.planned.file.path)))
    if line := result.planned.line():
        case.set("line", str(line))
    if result.status is Status.SKIP:
        SubElement(case, "skipped", message=_text(result.reason))
    elif result.status in _ELEMENTS:
        first = result.failures[0].message if result.failures else ""
        element = SubElement(case, _ELEMENTS[result.status], message=_text(first), type=test.level.value)
        failures = (_failure(result.planned, failure) for failure in result.failures)
        element.text = _text("\n".join([*failures, *result.differences]))
    elif result.differences:
        SubElement(case, "system-out").text = _text("\n".join(result.differences))


def _failure(planned: PlannedTest, failure: Failure) -> str:
    """Return the step and the sentence of a failure, with its line in the check file and its request."""
    request = f", request #{failure.exchange}" if failure.exchange else ""
    step = f"{failure.step}: " if failure.step else ""
    return f"{step}{failure.message} ({planned.place(failure.step)}{request})"


def _text(text: str) -> str:
    return _INVALID.sub("\ufffd", text)
