"""The request that is built from a draft, or the problems that prevent it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import FaultError
from inspector.protocol.selection import Choice
from inspector.session.call import Call
from inspector.session.compose.build import DraftError
from inspector.session.compose.checks import MessageWarning
from inspector.session.compose.draft import Draft
from inspector.session.session import Session
from inspector.tui.compose.outline import ADD


@dataclass(frozen=True, slots=True)
class BuiltRequest:
    """The call of a draft with its warnings; without a call, `problem` is the reason.

    `problems` has the problems by the path in the message, such as `parts/0` or `metadata`.
    """

    call: Call | None = None
    warnings: tuple[MessageWarning, ...] = ()
    problem: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)

    def problem_at(self, key: str) -> str:
        """Return the first problem of the row of a key, `""` if there is none."""
        return next((text for where, text in self.problems.items() if key and row_of(where) == key), "")

    def warnings_at(self, key: str) -> tuple[str, ...]:
        """Return the warnings of the row of a key."""
        return tuple(warning.words for warning in self.warnings if key and row_of(warning.where) == key)

    @property
    def marks(self) -> dict[str, str]:
        """Return a mark for each row with a problem (`!`) or a warning (`~`)."""
        marks = {row_of(warning.where): "~" for warning in self.warnings}
        return marks | {row_of(where): "!" for where in self.problems}


def build_request(session: Session, draft: Draft, *, stream: bool, choice: Choice | None) -> BuiltRequest:
    """Build the request of a draft, or find out why that is not possible."""
    try:
        call = session.send(draft, stream=stream, choice=choice, keep_warnings=True)
    except FaultError as error:
        problems: dict[str, str] = {}
        for problem in error.problems if isinstance(error, DraftError) else ():
            problems.setdefault(problem.where, problem.words)
        return BuiltRequest(problem=error.fault.sentence(), problems=problems)
    return BuiltRequest(call, call.warnings)


def row_of(where: str) -> str:
    """Return the key of the row of a path in the message; members of a part belong to the row of the part."""
    steps = where.split("/")
    return "/".join(steps[:2]) if steps[0] == "parts" and len(steps) > 1 else ADD if where == "parts" else where
