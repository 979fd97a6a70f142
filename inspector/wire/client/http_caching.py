"""The caching headers of a response (RFC 9111), and conditional requests (RFC 9110 section 13)."""

from __future__ import annotations

from inspector.lazy_dataclass import dataclass
from inspector.wire.client.observations import Headers

_NOT_REUSED = ("no-cache", "no-store")
"""The directives that forbid to use a response again without asking the server (RFC 9111 section 5.2.2)."""
_ABOUT_CONTENT = "content-"
"""How the names of headers begin that describe the body, which a response with the status 304 does not have."""


@dataclass(frozen=True, slots=True)
class Caching:
    """The caching headers of a response, `""` if missing; ages are in seconds, None if missing.

    `max_age` is None, too, if the response must not be reused without asking the server.
    """

    etag: str = ""
    last_modified: str = ""
    control: str = ""
    max_age: int | None = None
    age: int | None = None

    @property
    def conditions(self) -> dict[str, str]:
        """Return the headers of a conditional request, which gets the body only if it has changed."""
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in conditions.items() if value}

    def fresh_until(self, at: float) -> float | None:
        """Return until when a response that was received at `at` may be reused, None if unknown."""
        return None if self.max_age is None else at + max(0, self.max_age - (self.age or 0))

    def words(self) -> str:
        """Describe the headers in one line."""
        parts = [f"ETag {self.etag}"] if self.etag else []
        parts += [f"last modified {self.last_modified}"] if self.last_modified else []
        parts += [self.control] if self.control else []
        parts += [f"{self.age} s old when received"] if self.age is not None else []
        return ", ".join(parts) or "no caching headers: clients fetch the card every time, or guess its lifetime"


def caching_of(headers: Headers) -> Caching:
    """Read the caching headers of a response."""
    control = _header(headers, "cache-control")
    directives = [text.strip().lower() for text in control.split(",")]
    is_reusable = not any(directive in _NOT_REUSED for directive in directives)
    return Caching(
        _header(headers, "etag"),
        _header(headers, "last-modified"),
        control,
        next((age for name, age in map(_directive, directives) if name == "max-age" and is_reusable), None),
        _seconds(_header(headers, "age")),
    )


def confirmed(stored: Headers, received: Headers) -> Headers:
    """Return the headers of a stored response that a response with the status 304 confirms (RFC 9111 section 3.2).

    The age of the stored response ends with the confirmation.
    """
    new = [pair for pair in received if not pair[0].lower().startswith(_ABOUT_CONTENT)]
    replaced = {name.lower() for name, _ in new} | {"age"}
    return (*(pair for pair in stored if pair[0].lower() not in replaced), *new)


def _directive(text: str) -> tuple[str, int | None]:
    name, _, value = text.partition("=")
    return name.strip(), _seconds(value)


def _seconds(text: str) -> int | None:
    digits = text.strip().strip('"')
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 10 else None


def _header(headers: Headers, wanted: str) -> str:
    return ", ".join(value.strip() for name, value in headers if name.lower() == wanted)
