"""What a step expects of its response, and assertions about results.

Forms that the official suite uses beside those of the specification are accepted, too: an `expect` without `body`,
and `code` for `error_type`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from inspector.protocol.model import Json
from inspector.session.check.document.node import Expected, Node, Path


class Expect(Node):
    """The expected response: its HTTP status, its body and its headers (the headers are our addition)."""

    status: Expected = None
    body: Expected = None
    headers: dict[str, Expected] | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_body(cls, value: object) -> object:
        """Move members beside `status` into `body`, which the official suite leaves out in places."""
        if not isinstance(value, dict):
            return value
        known = {name: value[name] for name in ("status", "body", "headers") if name in value}
        others = {name: item for name, item in value.items() if name not in known}
        if not others:
            return known
        body = known.get("body", {})
        if not isinstance(body, dict):  # pydantic reports a ValueError, but not a TypeError
            raise ValueError(  # noqa: TRY004
                f"body is not a mapping, but there are members beside it: {', '.join(map(str, others))}"
            )
        return {**known, "body": {**body, **others}}


class ExpectError(Node):
    """The expected error: its name, and assertions about its message and its data."""

    error_type: Expected = Field(default=None, alias="code")
    message: Expected = None
    details: Expected = Field(default=None, alias="data")

    @model_validator(mode="before")
    @classmethod
    def _with_aliases(cls, value: object) -> object:
        """Read the keys of the specification and those of the official suite."""
        if not isinstance(value, dict):
            return value
        aliases = {"error_type": "code", "details": "data"}
        return {aliases.get(str(name), name): item for name, item in value.items()}


def _check_event(value: dict[str, Json]) -> dict[str, Json]:
    """Check the members of an event assertion that select the event."""
    positions = ("exact_position", "any_position")
    if "match" in value and value["match"] not in positions:
        raise ValueError(f"match: {value['match']!r} is not one of {', '.join(positions)}")
    index = value.get("index", 0)
    if not isinstance(index, int) or index < 0:
        raise ValueError(f"index: {index!r} is not a position")
    return value


class ExpectStream(Node):
    """The expected events of a stream; each event assertion has a position (`index`) or matches at any position."""

    min_count: int | None = Field(default=None, ge=0)
    max_count: int | None = Field(default=None, ge=0)
    timeout_ms: int | None = Field(default=None, gt=0)
    ordering: Literal["monotonic_state"] | None = None
    events: list[Annotated[dict[str, Expected], AfterValidator(_check_event)]] = []
    final_event: Expected = None
    each_event: Expected = None


class CollectionMatch(Node):
    """What the elements at a path with wildcards have to match."""

    path: Path
    match: Expected


class Assertion(Node):
    """An assertion about a captured value or the result of a step (`source`)."""

    id: str = ""
    description: str = ""
    source: str
    path: Path = ""
    match: Expected = None
    any: CollectionMatch | None = None
    all: CollectionMatch | None = None
    none: CollectionMatch | None = None
