"""Write a check document as YAML that people can read and edit."""

from __future__ import annotations

from typing import Any

import yaml

from inspector.protocol.model import Json
from inspector.session.check.source import Yaml12Loader

_WIDTH = 110


class _Dumper(yaml.SafeDumper):
    """Writes YAML 1.1, in which every text that YAML 1.2 would read as another type is quoted, too."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - a check file has no aliases
        """Return that equal values are written again."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        """Indent the items of lists."""
        super().increase_indent(flow, False)


def _write_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Write a text of several lines as a block, and every other text as YAML decides."""
    style = "|" if "\n" in text and not any(line != line.rstrip() for line in text.split("\n")) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)
for _first, _resolvers in Yaml12Loader.yaml_implicit_resolvers.items():
    for _tag, _pattern in _resolvers:
        _Dumper.add_implicit_resolver(_tag, _pattern, [_first])


def write_yaml(document: Json, comments: list[str]) -> str:
    """Return a document as YAML, after comments."""
    head = "".join(f"# {line}\n" for line in comments)
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return f"{head}{text}"
