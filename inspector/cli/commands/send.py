"""`send`: send a message."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from typing import Any

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser, split_lines
from inspector.lazy_dataclass import dataclass
from inspector.session.exporters import REQUEST_FORMATS


@dataclass(frozen=True, slots=True)
class PartSpec:
    """A part of a message as typed; `kind` is text, file, url or data."""

    kind: str
    value: str
    media_type: str = ""
    filename: str = ""
    metadata: str = ""


_PART_MEMBERS = ("media_type", "filename", "metadata")
"""The options that set a member of the part before them."""

_EXAMPLES = """\
# Send a text, and print the events of the response
a2a-inspect send http://localhost:9000 --text 'report 3' --stream
# Send the output of a program
git log -5 | a2a-inspect send http://localhost:9000 --text 'summarize:' --text -
# Send a text and a file, and save the artifacts
a2a-inspect send http://localhost:9000 --text file --file README.md --media-type text/markdown --save out
# Answer a task that needs input
a2a-inspect send http://localhost:9000 --task-id "$TASK_ID" --text yes
# Print the request as a curl command, and send nothing
a2a-inspect send http://localhost:9000 --text hello --preview curl"""


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
        if self.const not in _PART_MEMBERS:
            parts.append(PartSpec(str(self.const), values))
        elif not parts or getattr(parts[-1], self.const):
            parser.error(f"{option_string} must follow the part that it describes, at most once for each part")
        else:
            parts[-1] = replace(parts[-1], **{self.const: values})
        namespace.parts = parts


def _add_arguments(parser: Parser) -> None:
    parser.add_agent(as_argument=True, hint="Write the text of the message after --text.")
    _add_parts(parser)
    parser.switch(
        "--stream", "print events when they arrive (in a terminal: their text as it flows; with -o json: JSON Lines)"
    )
    parser.add_findings()
    parser.switch(
        "--async --return-immediately --no-wait",
        "do not wait for the task to end (default: wait)",
        dest="no_wait",
    )
    parser.switch("--wait", "wait for the task to end (the default)")
    _add_message(parser)
    parser.add_save()
    parser.add_waiting()
    parser.add_output()
    parser.add_connection()


def _add_parts(parser: Parser) -> None:
    group = parser.add_argument_group(
        "parts",
        "The parts of the message have the order of their options on the command line. --media-type, --filename and\n"
        "--part-metadata apply to the part before them.",
    )
    for flag, kind, metavar, description in (
        ("text", "text", "TEXT|-", "a text part; - reads the text from stdin"),
        ("file", "file", "PATH|URL", "a file part: the content of a file, or a URL that the agent fetches"),
        ("file-url", "url", "URL", "a file part: a URL that the agent fetches"),
        ("data", "data", "PATH|-", "a data part: JSON from a file or from stdin"),
        ("media-type", "media_type", "TYPE", "the media type of the preceding part"),
        ("filename", "filename", "NAME", "the file name of the preceding part"),
        ("part-metadata", "metadata", "JSON", "the metadata of the preceding part, a JSON object"),
    ):
        group.add_argument(f"--{flag}", action=_Part, const=kind, metavar=metavar, help=description)
    parser.value("--snippet FILE", "start with the message in this snippet (*.a2a.toml)", values.file, group=group)
    description = "the value of {{NAME}} in the snippet (default: environment variable NAME); repeatable"
    parser.value("--var NAME=VALUE", description, values.variable, group=group, split=split_lines)


def _add_message(parser: Parser) -> None:
    previews = [form.name for form in sorted(REQUEST_FORMATS, key=lambda form: form.is_program)]
    group = parser.add_argument_group("message")
    add = partial(parser.value, group=group)
    add("--task-id ID", "send the message to this task", values.identifier)
    add("--context-id ID", "send the message in this context", values.identifier)
    add("--reference-task ID", "a task that the message refers to; repeatable", values.identifier, split=values.words)
    add("--extension URI", "activate this extension; repeatable", values.identifier, split=values.words)
    add("--message-id ID", "the id of the message (default: a new id)", values.identifier)
    add("--message-metadata JSON", "the metadata of the message, a JSON object", values.json_text)
    add("--metadata JSON", "the metadata of the request, a JSON object", values.json_text)
    add("--tenant NAME", "the tenant (default: the tenant of the interface)")
    add("--accept TYPE", "accept this output media type; repeatable", values.identifier, split=values.words)
    add(
        "--request FILE",
        "send the raw request in this file instead, even if it is invalid: request line, headers, an empty line, body "
        "(as --preview http prints it)",
        values.file,
    )
    description = f"print the request, and send nothing: {', '.join(previews[:-1])} or {previews[-1]}"
    add("--preview FORMAT", description, choices=previews)


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.send:send"), _EXAMPLES)
