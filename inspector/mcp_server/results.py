"""Make the results of tools short, sanitised and free of secrets, and turn failures into errors of tools."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

from mcp.server.mcpserver.exceptions import ToolError

from inspector.capture.private_files import CaptureError
from inspector.capture.redaction import Redactor
from inspector.findings.finding import Finding, Severity
from inspector.protocol.errors import FaultError
from inspector.protocol.model import Json
from inspector.session.exporters.json_lines import finding_json
from inspector.text.sanitise import clean

Result: TypeAlias = dict[str, Any]

MOST_ROWS = 50
"""The most rows of a list; another call returns the others."""
TEXT = 400
"""The most characters of a text in a list."""
_LONGEST_NAME = 200
_LONGEST_ERROR = 1_000

_Tool = TypeVar("_Tool", bound=Callable[..., Any])


def tool(function: _Tool) -> _Tool:
    """Decorate the function of a tool: mistakes and failures become errors that the caller can read."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def run_async(*given: Any, **named: Any) -> Any:
            with _readable_errors():
                return await function(*given, **named)

        return run_async  # type: ignore[return-value]

    @functools.wraps(function)
    def run(*given: Any, **named: Any) -> Any:
        with _readable_errors():
            return function(*given, **named)

    return run  # type: ignore[return-value]


@contextmanager
def _readable_errors() -> Iterator[None]:
    try:
        yield
    except (FaultError, CaptureError) as error:
        raise refused(error) from error


def refused(error: Exception | str) -> ToolError:
    """Return the error of a tool with the text of another error, which may quote an agent."""
    return ToolError(clean(str(error), limit=_LONGEST_ERROR))


def tidy(value: Json, redactor: Redactor | None = None, longest: int = TEXT) -> Json:
    """Return a JSON value with sanitised texts, at most `longest` characters each, in which secrets are masked."""
    if isinstance(value, str):
        text = redactor.text(value) if redactor is not None else value
        return clean(text, newlines=True, limit=longest)
    if isinstance(value, dict):
        return {clean(key, limit=_LONGEST_NAME): tidy(item, redactor, longest) for key, item in value.items()}
    return [tidy(item, redactor, longest) for item in value] if isinstance(value, list | tuple) else value


def without_blanks(members: Result) -> Result:
    """Leave out members without a value: None, empty texts and empty lists."""
    return {name: value for name, value in members.items() if value not in (None, "", [], {})}


def finding_rows(findings: Sequence[Finding]) -> Result:
    """Return how many findings there are, and those of the most severe rules, each rule once."""
    counts: dict[str, int] = {}
    first: dict[str, Finding] = {}
    for finding in findings:
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
        first.setdefault(finding.rule, finding)
    chosen = sorted(first.values(), key=lambda finding: (finding.severity.rank, finding.rule))
    rows = [without_blanks({**finding_json(finding), "count": counts[finding.rule]}) for finding in chosen[:MOST_ROWS]]
    severities = {severity.value: sum(found.severity is severity for found in findings) for severity in Severity}
    return {**severities, "rules": rows} if rows else severities
