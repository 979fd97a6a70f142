"""Response overrides: responses that the user sets to test how an agent reacts to errors and delays."""

from __future__ import annotations

import re
from enum import StrEnum

from inspector.lazy_dataclass import dataclass
from inspector.wire.receiver.registration import Registration

_SPELLED = re.compile(
    r"(?P<what>[1-9][0-9]{2}|never|reset|truncated)(?:/(?P<retry>[0-9]{1,6}))?"
    r"(?:@(?P<delay>[0-9]{1,6}(?:\.[0-9]+)?)s?)?(?::(?P<times>[1-9][0-9]{0,5}))?"
)
SPELLING = (
    "a status (200 to 599), never, reset or truncated; "
    "optional: /30 for Retry-After, @5s for a delay, :2 for the next two deliveries"
)
"""The syntax of an override."""
_RETRY_AFTER = 1
"""The Retry-After of a 429 or 503 whose override does not set it."""
_ASKS_TO_WAIT = (429, 503)


class Manner(StrEnum):
    """How a response is sent."""

    WHOLE = "whole"
    NEVER = "never"
    """No response: the connection stays open until the sender closes it."""
    RESET = "reset"
    """No response: the connection is reset."""
    TRUNCATED = "truncated"
    """The head announces a longer body than is sent."""


_STATUSES = {Manner.NEVER: 0, Manner.RESET: 0, Manner.TRUNCATED: 200}
"""The status that the sender sees, 0 for none."""


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """A response to an accepted delivery; `delay` and `retry_after` are in seconds, None: no Retry-After."""

    status: int = 204
    manner: Manner = Manner.WHOLE
    delay: float = 0.0
    retry_after: int | None = None

    @property
    def accepts(self) -> bool:
        """Return whether the response reports success to the sender."""
        return self.manner is Manner.WHOLE and 200 <= self.status < 300

    @property
    def words(self) -> str:
        """Describe the response: `500`, `429, retry after 1 s`, `204 after 5 s`, `never`."""
        text = str(self.status) if self.manner is Manner.WHOLE else self.manner.value
        text += f", retry after {self.retry_after} s" if self.retry_after is not None else ""
        return text + (f" after {self.delay:g} s" if self.delay else "")

    def headers(self, url: str) -> dict[str, str]:
        """Return the headers; a redirect leads to `url?redirected=1`, which shows whether the sender follows it."""
        headers = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return headers | ({"Location": f"{url}?redirected=1"} if 300 <= self.status < 400 else {})


ACCEPT = WebhookResponse()
"""The response while there is no override."""


@dataclass(slots=True)
class ResponseOverride:
    """A response for the next `left` deliveries (None: all) of a registration (None: all)."""

    response: WebhookResponse
    left: int | None = None
    registration: Registration | None = None

    @property
    def words(self) -> str:
        """Describe the response and the deliveries that it applies to."""
        where = f" for webhook {self.registration.number}" if self.registration else ""
        return f"{self.response.words}{'' if self.left is None else f', {self.left:,} more'}{where}"


class ResponseOverrides:
    """The current overrides; the first match with a count applies, or else the last match without a count."""

    def __init__(self) -> None:
        self._overrides: list[ResponseOverride] = []

    def __bool__(self) -> bool:
        return bool(self._overrides)

    @property
    def words(self) -> str:
        """Describe the overrides, `""` for none."""
        return "; ".join(override.words for override in self._overrides)

    def add(self, override: ResponseOverride) -> None:
        """Append an override; without a count, it replaces an uncounted override of the same registration."""
        if override.left is None:
            self._overrides = [
                other for other in self._overrides if other.left or other.registration is not override.registration
            ]
        self._overrides.append(override)

    def clear(self) -> None:
        """Remove all overrides."""
        self._overrides.clear()

    def next_response(self, registration: Registration | None) -> WebhookResponse:
        """Return the response to the next delivery of a registration, and decrease the count."""
        fitting = [override for override in self._overrides if override.registration in (None, registration)]
        counted = next((override for override in fitting if override.left is not None), None)
        if counted is not None and counted.left is not None:
            counted.left -= 1
            if not counted.left:
                self._overrides.remove(counted)
            return counted.response
        return fitting[-1].response if fitting else ACCEPT


def read_override(text: str, registration: Registration | None = None) -> ResponseOverride | None:
    """Parse `500`, `500:2`, `429/30`, `204@5s`, `never`, `reset:1`; return None for invalid text."""
    found = _SPELLED.fullmatch(text.strip().lower())
    if found is None:
        return None
    what, retry = found["what"], found["retry"]
    status = int(what) if what.isdigit() else _STATUSES[Manner(what)]
    if what.isdigit() and status not in range(200, 600):
        return None
    retry_after = int(retry) if retry else _RETRY_AFTER if status in _ASKS_TO_WAIT else None
    manner = Manner.WHOLE if what.isdigit() else Manner(what)
    response = WebhookResponse(status, manner, float(found["delay"] or 0), retry_after)
    return ResponseOverride(response, int(found["times"]) if found["times"] else None, registration)
