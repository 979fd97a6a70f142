"""The base of all parts of a check file, and the types of their members."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from inspector.protocol.model import Json
from inspector.session.check import paths

EXTENSION = "x-a2a-inspect"
"""The key of our additions to a test or a step."""


class Node(BaseModel):
    """The base of all parts of a check file: immutable, with the types of YAML, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _without_other_extensions(cls, value: object) -> object:
        """Remove the extensions of other runners."""
        if not isinstance(value, dict):
            return value
        return {name: item for name, item in value.items() if not str(name).startswith("x-") or name == EXTENSION}


def _check_path(value: str) -> str:
    paths.parse(value)
    return value


Path: TypeAlias = Annotated[str, AfterValidator(_check_path)]
Expected: TypeAlias = Json
"""An assertion: a value, a mapping of operators, or nested members (see `matching.py`)."""
