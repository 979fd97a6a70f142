"""`send`: send a message."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser, split_lines
from inspector.session.exporters import REQUEST_FORMATS


@dataclass(frozen=True, slots=True)
class PartSpec:
    """A part of a message as typed; `kind` is text, file, url or data."""

    kind: str
    value: str
    media_type: str = ""
    filename: str = ""
    metadata: str = ""


_ABOUT_PART = ("media_type", "filename", "metadata")
"""The options about the part before them."""


class _Part(argparse.Action):
    """Collects the parts of a message in their order."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        parts: list[PartSpec] = [*(getattr(namespace, "parts", None) or ())]
        if self.const not in _ABOUT_PART:
            parts.append(PartSpec(str(self.const), values))
        elif not parts or getattr(parts[-1], self.const):
            parser.error(f"{option_string} follows the part that it is about")
        else:
            parts[-1] = replace(parts[-1], **{self.const: values})
        namespace.parts = parts


def _add_arguments(parser: Parser) -> None:
    parser.add_agent()
    _add_parts(parser)
    parser.switch("--stream", "follow the events live (with -o json: JSON Lines)")
    parser.add_findings()
    parser.switch(
        "--async --return-immediately --no-wait", "do not wait for the task to end (default: wait)", dest="no_wait"
    )
    parser.switch("--wait", "wait for the task to end, which is what happens anyway")
    _add_message(parser)
    parser.add_save()
    parser.add_waiting()
    parser.add_output()
    parser.add_connection()


def _add_parts(parser: Parser) -> None:
    group = parser.add_argument_group("parts", "In the order in which they stand; what is about a part follows it.")
    for flag, kind, metavar, words in (
        ("text", "text", "TEXT", "a text part"),
        ("file", "file", "PATH|URL", "a file part: the content of a file, or a url that the agent fetches"),
        ("file-url", "url", "URL", "a file part: a url that the agent fetches"),
        ("data", "data", "PATH|-", "a data part: JSON from a file or from stdin"),
        ("media-type", "media_type", "TYPE", "the media type of the part before"),
        ("filename", "filename", "NAME", "the file name of the part before"),
        ("part-metadata", "metadata", "JSON", "the metadata of the part before"),
    ):
        group.add_argument(f"--{flag}", action=_Part, const=kind, metavar=metavar, help=words)
    parser.value("--snippet FILE", "begin with this *.a2a.toml", values.file, group=group)
    words = "put this for {{NAME}} in the snippet (default: the environment's); repeatable"
    parser.value("--var NAME=VALUE", words, values.variable, group=group, split=split_lines)


def _add_message(parser: Parser) -> None:
    previews = [form.name for form in sorted(REQUEST_FORMATS, key=lambda form: form.is_program)]
    group = parser.add_argument_group("message")
    add = partial(parser.value, group=group)
    add("--task-id ID", "continue this task", values.identifier)
    add("--context-id ID", "start a new task in this context", values.identifier)
    add("--reference-task ID", "refer to this task; repeatable", values.identifier, split=values.words)
    add("--extension URI", "use this extension; repeatable", values.identifier, split=values.words)
    add("--message-id ID", "the message's id (default: a new one)", values.identifier)
    add("--message-metadata JSON", "the message's metadata, an object", values.json_text)
    add("--metadata JSON", "the request's metadata, an object", values.json_text)
    add("--tenant NAME", "the tenant (default: that of the interface)")
    add("--accept TYPE", "accept this media type; repeatable", values.identifier, split=values.words)
    add(
        "--request FILE",
        "send the request in this file, right or wrong, in place of all that: its first line, headers, "
        "an empty line, the body (--preview http writes one)",
        values.file,
    )
    words = f"print what would be sent and send nothing: {', '.join(previews[:-1])} or {previews[-1]}"
    add("--preview FORM", words, choices=previews)


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.send:send"))
