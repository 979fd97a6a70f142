"""The answers that a user dials in to see what an agent does about them: which, after how long, how many times."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from inspector.wire.receiver.registration import Registration

_SPELLED = re.compile(
    r"(?P<what>[1-9][0-9]{2}|never|reset|truncated)(?:/(?P<retry>[0-9]{1,6}))?"
    r"(?:@(?P<delay>[0-9]{1,6}(?:\.[0-9]+)?)s?)?(?::(?P<times>[1-9][0-9]{0,5}))?"
)
SPELLING = (
    "a status (200 to 599), never, reset or truncated; then /30 for Retry-After, @5s to wait first, :2 for the next two"
)
"""How an answer is written."""
_RETRY_AFTER = 1
"""Seconds that a 429 or 503 asks for, where nothing else was dialled in."""
_ASKS_TO_WAIT = (429, 503)


class Manner(StrEnum):
    """How an answer is given."""

    WHOLE = "whole"
    NEVER = "never"
    """Not at all: the connection is held until the sender gives up."""
    RESET = "reset"
    """The connection is reset instead."""
    TRUNCATED = "truncated"
    """The head promises more body than comes."""


_STATUSES = {Manner.NEVER: 0, Manner.RESET: 0, Manner.TRUNCATED: 200}
"""What the sender sees of a status; 0 for none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to a good delivery; `delay` is in seconds, `retry_after` None where it says nothing of it."""

    status: int = 204
    manner: Manner = Manner.WHOLE
    delay: float = 0.0
    retry_after: int | None = None

    @property
    def takes(self) -> bool:
        """Tell whether the sender may take its delivery for accepted."""
        return self.manner is Manner.WHOLE and 200 <= self.status < 300

    @property
    def words(self) -> str:
        """Say what the answer is: `500`, `429, retry after 1 s`, `204 after 5 s`, `never`."""
        said = str(self.status) if self.manner is Manner.WHOLE else self.manner.value
        said += f", retry after {self.retry_after} s" if self.retry_after is not None else ""
        return said + (f" after {self.delay:g} s" if self.delay else "")

    def headers(self, url: str) -> dict[str, str]:
        """Return what goes with the status; a redirect leads to `url` with a mark, so that who follows it is seen."""
        headers = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return headers | ({"Location": f"{url}?redirected=1"} if 300 <= self.status < 400 else {})


ACCEPT = Answer()
"""What a good delivery is answered with while nothing is dialled in."""


@dataclass(slots=True)
class Dial:
    """An answer dialled in: for so many deliveries more (None: for good), for one registration or (None) for all."""

    answer: Answer
    left: int | None = None
    registration: Registration | None = None

    @property
    def words(self) -> str:
        """Say what is dialled in, and for what."""
        where = f" for hook {self.registration.number}" if self.registration else ""
        return f"{self.answer.words}{'' if self.left is None else f', {self.left:,} more'}{where}"


class Dials:
    """What is dialled in: the first for so many deliveries that fits answers one, else the last that is for good."""

    def __init__(self) -> None:
        self._dials: list[Dial] = []

    def __bool__(self) -> bool:
        return bool(self._dials)

    @property
    def words(self) -> str:
        """Say what is dialled in, `""` where nothing is."""
        return "; ".join(one.words for one in self._dials)

    def add(self, dial: Dial) -> None:
        """Dial in an answer, behind those that are there; one for good takes the place of the one before it."""
        if dial.left is None:
            self._dials = [one for one in self._dials if one.left or one.registration is not dial.registration]
        self._dials.append(dial)

    def clear(self) -> None:
        """Answer every good delivery well again."""
        self._dials.clear()

    def take(self, registration: Registration | None) -> Answer:
        """Return the answer to the next delivery of a registration, and count it."""
        fitting = [dial for dial in self._dials if dial.registration in (None, registration)]
        counted = next((dial for dial in fitting if dial.left is not None), None)
        if counted is not None and counted.left is not None:
            counted.left -= 1
            if not counted.left:
                self._dials.remove(counted)
            return counted.answer
        return fitting[-1].answer if fitting else ACCEPT


def read_dial(text: str, registration: Registration | None = None) -> Dial | None:
    """Read `500`, `500:2`, `429/30`, `204@5s`, `never`, `reset:1`, or return None for what is none of these."""
    found = _SPELLED.fullmatch(text.strip().lower())
    if found is None:
        return None
    what, retry = found["what"], found["retry"]
    status = int(what) if what.isdigit() else _STATUSES[Manner(what)]
    if what.isdigit() and status not in range(200, 600):
        return None
    retry_after = int(retry) if retry else _RETRY_AFTER if status in _ASKS_TO_WAIT else None
    manner = Manner.WHOLE if what.isdigit() else Manner(what)
    answer = Answer(status, manner, float(found["delay"] or 0), retry_after)
    return Dial(answer, int(found["times"]) if found["times"] else None, registration)
