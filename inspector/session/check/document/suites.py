"""A check file: its suites, their tests, and what a test needs."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo

from inspector.protocol.model import Json
from inspector.session.check.document.enumerations import Levels, Requirements, Transports
from inspector.session.check.document.expected import Assertion
from inspector.session.check.document.extension import TestExtension
from inspector.session.check.document.node import EXTENSION, Node
from inspector.session.check.document.steps import Step

_SUFFIXES = (".yaml", ".yml", ".json")
"""The ends of the names of files that can be included."""


class SkillRequirement(Node):
    """A skill that the agent must have."""

    id: str


class Preconditions(Node):
    """What the agent has to declare so that a test applies."""

    capabilities: dict[str, Json] = {}
    skills: list[SkillRequirement] = []
    transport: list[Transports] = []
    extensions: list[str] = []
    description: str = ""


class Test(Node):
    """A scenario: steps in order, then assertions."""

    id: str = Field(min_length=1)
    name: str
    description: str = ""
    spec_ref: str = ""
    level: Levels
    tags: list[str] = []
    transport: list[Transports] = []
    preconditions: Preconditions = Preconditions()
    requires_behaviors: list[str] = []
    origin: str = ""
    runner_requirements: list[Requirements] = []
    steps: list[Step] = Field(min_length=1)
    assertions: list[Assertion] = []
    extension: TestExtension = Field(default=TestExtension(), alias=EXTENSION)


class Suite(Node):
    """A group of tests; its tags are those of its tests, too."""

    id: str = Field(min_length=1)
    name: str
    description: str = ""
    tags: list[str] = []
    tests: list[Test]


class Metadata(Node):
    """What the file is about."""

    title: str = ""
    description: str = ""
    authors: list[str] = []
    license: str = ""


def _check_include(value: str) -> str:
    """Check the name of an included file: errors quote a file, so that it must not be any file with secrets."""
    if not value.lower().endswith(_SUFFIXES):
        raise ValueError(f"{value!r} is not the name of a check file: it has to end with {', '.join(_SUFFIXES)}")
    return value


def _check_version(value: str) -> str:
    if value.partition(".")[0] not in ("0", "1"):
        raise ValueError(f"{value!r} is not supported; supported: 0.x and 1.x")
    return value


def _check_suites(value: list[Suite], info: ValidationInfo) -> list[Suite]:
    if not value and info.data.get("include") == []:
        raise ValueError("a check file needs suites or include")
    return value


class Document(Node):
    """A check file; `include` names other files, relative to this one."""

    acts_version: Annotated[str, AfterValidator(_check_version)]
    spec_version: str
    spec_ref: str = ""
    metadata: Metadata = Metadata()
    variables: dict[str, str] = {}
    include: list[Annotated[str, AfterValidator(_check_include)]] = []
    suites: Annotated[list[Suite], AfterValidator(_check_suites)] = Field(default=[], validate_default=True)
