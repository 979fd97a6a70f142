"""Replace `{{name}}` in the texts of a check file (ACTS section 8.1)."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from inspector.capture.secret_locations import is_secret_name
from inspector.lazy_dataclass import dataclass
from inspector.protocol.model import Json
from inspector.session.check.paths import MISSING, value_at
from inspector.text.safe_json import dump

_REFERENCE = re.compile(r"\{\{([^{}]{1,300})\}\}")
_MOST_NESTED = 10
"""How often the value of a variable may refer to another variable."""
_MOST_REFERENCES = 10_000
"""How many references a text may have, together with the values that it refers to."""
_LONGEST_TEXT = 10_000_000


class VariableError(Exception):
    """Raised for a variable that has no value."""


@dataclass(slots=True)
class Variables:
    """The values that a test can use: those of the files and of the command line, captured values, results of steps.

    `captured` has `step.name`, `results` the result of each step (`step.response`). The environment is read on use;
    `environment` has the names of the variables that were read, `no_environment` is why none may be read. `learn` gets
    the values that are secret by their name, so that they are masked in the capture and in failures.
    """

    given: Mapping[str, Json]
    captured: dict[str, Json] = field(default_factory=dict)
    results: dict[str, Json] = field(default_factory=dict)
    learn: Callable[[str], object] = str
    no_environment: str = ""
    environment: set[str] = field(default_factory=set, init=False)
    _count: int = field(default=0, init=False)

    def resolve(self, value: Any) -> Any:
        """Return a value with all references replaced; raises `VariableError` for an unknown variable.

        A text that consists of one reference becomes its value, of any type.
        """
        if isinstance(value, str):
            self._count = 0
            return self._text(value, 0) if "{{" in value else value
        if isinstance(value, dict):
            return {self.text(name): self.resolve(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.resolve(item) for item in value]
        return value

    def text(self, text: str) -> str:
        """Return a text with all references replaced, JSON for an object or an array; raises `VariableError`."""
        return _as_text(self.resolve(text))

    def _text(self, text: str, depth: int) -> Json:
        if depth > _MOST_NESTED:
            raise VariableError(f"the variables in {text[:60]!r} refer to each other")
        whole = _REFERENCE.fullmatch(text)
        if whole is not None:
            return self._value(whole[1].strip(), depth)
        length = len(text)

        def replacement(found: re.Match[str]) -> str:
            nonlocal length
            value = _as_text(self._value(found[1].strip(), depth))
            length += len(value)
            if length > _LONGEST_TEXT:
                raise VariableError(f"the text {text[:60]!r} becomes longer than {_LONGEST_TEXT:,} characters")
            return value

        return _REFERENCE.sub(replacement, text)

    def _value(self, name: str, depth: int) -> Json:
        """Return the value of a variable; captured values have priority (ACTS section 12.2)."""
        self._count += 1
        if self._count > _MOST_REFERENCES:
            raise VariableError("the variables refer to each other too often")
        if name == "$uuid":
            return str(uuid.uuid4())
        if name in self.captured:
            return self.captured[name]
        step, _, path = name.partition(".response")
        if step in self.results and name.startswith(f"{step}.response"):
            try:
                value = value_at(self.results[step], path)
            except ValueError as error:
                raise VariableError(str(error)) from error
            if value is MISSING:
                raise VariableError(f"the response of step {step!r} has no {path.lstrip('.')}")
            return value
        if name in self.given:
            value = self.given[name]
            return self._known(
                name, self._text(value, depth + 1) if isinstance(value, str) and "{{" in value else value
            )
        if name.startswith("env."):
            if self.no_environment:
                raise VariableError(f"the environment variable {name[4:]} is not read: {self.no_environment}")
            if (found := os.environ.get(name[4:])) is not None:
                self.environment.add(name[4:])
                return self._known(name[4:], found)
            raise VariableError(f"the environment variable {name[4:]} is not set")
        raise VariableError(f"the variable {{{{{name}}}}} has no value; {self._remedy(name)}")

    def _remedy(self, name: str) -> str:
        """Return how a variable without a value can get one: a name with a dot is a captured value of a step."""
        step, dot, _ = name.partition(".")
        if not dot:
            return f"set it with --var {name}=VALUE"
        captured = [known.removeprefix(f"{step}.") for known in self.captured if known.startswith(f"{step}.")]
        if step not in self.results and not captured:
            return f"no step before has the id {step!r}"
        return f"the step {step!r} captures {', '.join(captured) or 'nothing'}"

    def _known(self, name: str, value: Json) -> Json:
        """Return the value of a variable, after it is known if it is a secret."""
        if isinstance(value, str) and is_secret_name(name):
            self.learn(value)
        return value


def references(value: Any) -> set[str]:
    """Return the names of the variables in a value."""
    if isinstance(value, str):
        return set(map(str.strip, _REFERENCE.findall(value)))
    items = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(references, items)) if items else set()


def _as_text(value: Json) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return dump(value)
    return "" if value is None else str(value)
