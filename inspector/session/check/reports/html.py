"""An HTML page without scripts or external files: the summary, the failures, and all tests."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape

from inspector.session.check.document.enumerations import Level
from inspector.session.check.plan import PlannedTest
from inspector.session.check.result import Counts, Failure, RunResult, TestResult
from inspector.session.check.trials import representatives
from inspector.text.sanitise import clean

_STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1c2330;
  background: #fff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .6rem; vertical-align: top;
  border-bottom: 1px solid #d9dee7; }
.pass { color: #1a6b35; } .fail, .error { color: #a4161a; font-weight: 600; } .skip { color: #5b6472; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font: 13px/1.45 ui-monospace, monospace; }
details { border: 1px solid #d9dee7; border-radius: 6px; padding: .5rem .8rem; margin: .5rem 0; }
summary { cursor: pointer; }
@media (prefers-color-scheme: dark) { body { color: #dde3ee; background: #14181f; }
  th, td, details { border-color: #333c4b; } .pass { color: #6fce8d; } .fail, .error { color: #ff8b8b; }
  .skip { color: #98a2b3; } }"""


def write(run: RunResult) -> list[str]:
    """Return the document."""
    results = representatives(run.results)
    failed = [result for result in results if result.has_failed]
    started = datetime.fromtimestamp(run.started, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    interrupted = ", interrupted" if run.interrupted else ""
    body = [
        f"<h1>Checks of {_text(run.agent)} {_text(run.agent_version)}</h1>",
        f"<p>{started}, {run.seconds:.1f} s, A2A {_text(run.spec_version)}{interrupted}</p>",
        _summary(results),
        *(["<h2>Failures</h2>", *map(_details, failed)] if failed else []),
        "<h2>All tests</h2>",
        _table(results),
    ]
    return [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>a2a-inspect check</title>\n'
        f"<style>{_STYLE}</style></head>\n<body>\n{chr(10).join(body)}\n</body></html>\n"
    ]


def _summary(results: list[TestResult]) -> str:
    rows = []
    for level in Level:
        counts = Counts.of(result for result in results if result.test.level is level)
        cells = (level.value.upper(), counts.total, counts.passed, counts.failed, counts.errors, counts.skipped)
        rows.append(_row(map(str, cells)))
    head = _row(("Level", "Tests", "Passed", "Failed", "Errors", "Skipped"), "th")
    return f"<table>{head}{''.join(rows)}</table>"


def _table(results: list[TestResult]) -> str:
    head = _row(("Result", "Test", "Level", "Transport", "Time", "Name"), "th")
    rows = [
        f'<tr><td class="{result.status}">{result.status}</td><td>{_text(result.test.id)}</td>'
        f"<td>{result.test.level}</td><td>{result.transport}</td><td>{result.seconds * 1000:.0f} ms</td>"
        f"<td>{'<br>'.join(map(_text, filter(None, (result.test.name, result.reason, *result.differences))))}</td></tr>"
        for result in results
    ]
    return f"<table>{head}{''.join(rows)}</table>"


def _details(result: TestResult) -> str:
    title = f"{_text(result.test.id)} ({result.transport}) {_text(result.test.name)}"
    spec = f"<p>{_text(result.test.spec_ref)}</p>" if result.test.spec_ref else ""
    failures = "".join(_failure(result.planned, failure) for failure in result.failures)
    return f'<details open><summary class="{result.status}">{title}</summary>{spec}{failures}</details>'


def _failure(planned: PlannedTest, failure: Failure) -> str:
    rows = (
        ("Step", failure.step),
        ("At", failure.path),
        ("Expected", failure.expected),
        ("Actual", failure.actual),
        ("Request", f"#{failure.exchange} of the capture" if failure.exchange else ""),
        ("File", planned.place(failure.step)),
    )
    cells = "".join(f"<tr><th>{name}</th><td><pre>{_text(value)}</pre></td></tr>" for name, value in rows if value)
    return f"<p>{_text(failure.message)}</p><table>{cells}</table>"


def _row(cells: Iterable[str], tag: str = "td") -> str:
    return f"<tr>{''.join(f'<{tag}>{_text(cell)}</{tag}>' for cell in cells)}</tr>"


def _text(text: str) -> str:
    return escape(clean(text, newlines=True, emoji=True))
