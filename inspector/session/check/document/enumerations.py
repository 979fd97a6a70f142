"""The words that members of a check file may have, as enumerations."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator


class Level(StrEnum):
    """The conformance level of a test, as in RFC 2119."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"


class Transport(StrEnum):
    """The name of a binding in a check file."""

    JSONRPC = "jsonrpc"
    GRPC = "grpc"
    REST = "rest"

    @property
    def binding(self) -> str:
        """Return the name of the binding on a card."""
        return "HTTP+JSON" if self is Transport.REST else self.value.upper()


class Requirement(StrEnum):
    """What a test needs from the runner."""

    WEBHOOK = "webhook_endpoint"
    CONCURRENT_STREAMS = "concurrent_streams"
    STREAM_DISCONNECT = "stream_disconnect"
    AUTH_CREDENTIALS = "auth_credentials"
    HEADER_INSPECTION = "header_inspection"


def _member(kind: type[StrEnum]) -> BeforeValidator:
    """Return a validator that reads the members of an enumeration from their values, which strict mode forbids."""

    def read(value: object) -> object:
        member = next((member for member in kind if member == value), None)
        if member is None:
            raise ValueError(f"{value!r} is not one of {', '.join(kind)}")
        return member

    return BeforeValidator(read)


Levels: TypeAlias = Annotated[Level, _member(Level)]
Transports: TypeAlias = Annotated[Transport, _member(Transport)]
Requirements: TypeAlias = Annotated[Requirement, _member(Requirement)]
