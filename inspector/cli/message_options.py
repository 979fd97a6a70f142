"""The message of `send`: make a draft from options or a snippet, and print its preview."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from inspector.capture.secret_locations import is_secret_name
from inspector.cli.commands.send import PartSpec
from inspector.cli.errors import usage
from inspector.cli.output import Output
from inspector.cli.stdin import STDIN
from inspector.protocol.bindings.base import GrpcRequest, HttpRequest, WireRequest
from inspector.protocol.errors import Fault
from inspector.protocol.jsonvalue import brief, parse_strictly
from inspector.protocol.model import Unreadable
from inspector.session.call import Call
from inspector.session.compose.build import compose
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft
from inspector.session.compose.snippets import SnippetError, fill_variables, load, variables
from inspector.session.exporters import REQUEST_FORMATS
from inspector.text.limited_file import read_limited

_OF_MESSAGE = (
    *("snippet", "task_id", "context_id", "reference_task", "extension", "message_id", "message_metadata"),
    *("metadata", "accept", "history", "save"),
)
"""The options about the message or its task, which have no effect on a raw request; `--tenant` may be a setting."""
_READ_FROM_STDIN = (PartKind.TEXT, PartKind.DATA)
"""The kinds of parts whose value `-` is the content of stdin."""
_LARGEST = 64_000_000
"""The maximum size of a request in a file, in bytes."""


def make_draft(given: Namespace) -> Draft:
    """Return the draft that the options describe; raises `FaultError` if it cannot be sent."""
    specs = getattr(given, "parts", ())
    if given.request is not None:
        _check_alone(given)
        return text_draft("")
    draft = _of_snippet(given) if given.snippet else Draft(())
    draft = _changed(replace(draft, parts=(*draft.parts, *make_parts(specs))), given)
    if not draft.parts:
        raise usage("The message has no parts.", "Add --text, --file, --file-url, --data or --snippet.")
    compose(draft).check()
    return draft


def _check_alone(given: Namespace) -> None:
    """Raise `FaultError` if a raw request is combined with options that would not change it."""
    names = [f"--{name.replace('_', '-')}" for name in _OF_MESSAGE if getattr(given, name) not in (None, [], ())]
    if getattr(given, "parts", ()):
        names.insert(0, "parts")
    if names:
        hint = "The file is sent unchanged. Remove the other options, or remove --request."
        raise usage(f"--request cannot be combined with {', '.join(names)}.", hint)


def _of_snippet(given: Namespace) -> Draft:
    try:
        draft = load(given.snippet).draft
    except SnippetError as error:
        raise usage(str(error), "docs/compose.md describes snippets.") from error
    values = _values(given)
    missing = [name for name in variables(draft) if name not in values]
    if missing:
        hint = " ".join(f"--var {name}=..." for name in missing)
        raise usage(f"The snippet has variables without a value: {', '.join(missing)}.", f"Add {hint}")
    return fill_variables(draft, values)


def _values(given: Namespace) -> dict[str, str]:
    """Return the values of variables, from the options and the environment."""
    return {**({} if given.named_by else os.environ), **dict(given.var or ())}


def secret_variables(given: Namespace) -> list[str]:
    """Return the values of the snippet's variables whose names are those of secrets, such as `API_TOKEN`."""
    names = variables(load(given.snippet).draft) if given.snippet else ()
    values = _values(given)
    return [values[name] for name in names if is_secret_name(name)]


def _changed(draft: Draft, given: Namespace) -> Draft:
    """Return the draft with the members that the options set."""
    typed = {
        "task_id": given.task_id,
        "context_id": given.context_id,
        "references": tuple(given.reference_task or ()),
        "extensions": tuple(given.extension or ()),
        "metadata": given.message_metadata,
        "request_metadata": given.metadata,
        "tenant": given.tenant,
        "accepted_output_modes": tuple(given.accept or ()),
        "message_id": given.message_id,
    }
    changes = {name: value for name, value in typed.items() if value}
    if given.history is not None:
        changes["history_length"] = given.history
    if given.no_wait:
        changes["blocking"] = False
    return replace(draft, **changes)


def read_request(given: Namespace) -> str | None:
    """Return the raw request of a file or of stdin, None without the option; raises `FaultError`.

    It must not be called in the event loop, which would not react to Ctrl+C while it waits for stdin.
    """
    if given.request is None:
        return None
    return _read(given.request, "request file").decode("utf-8", "surrogateescape")


def show(call: Call, form: str, out: Output) -> None:
    """Print the request without secrets, and do not send it; raises `FaultError` if the format cannot represent it."""
    seen = call.preview()
    if isinstance(seen, Fault):
        raise usage(seen.seen, seen.hint)
    chosen = next(known for known in REQUEST_FORMATS if known.name == form)
    wire, hidden = _without_secrets(call, seen.body)
    if chosen.is_program and isinstance(call.wire, HttpRequest) and call.wire.splices:
        wire = call.wire  # a program cannot contain the files: `write` raises the error
    text = chosen.write(wire, call.exchange.context)
    if chosen.is_program and not text.endswith("\n"):
        text += "\n"
    if hidden and form != "json":
        out.warn(f"secrets left out: {', '.join(hidden)}")
    if out.json and form != "json":
        out.document({"format": form, "request": text})
    else:
        out.verbatim(text)


def _without_secrets(call: Call, masked: bytes) -> tuple[WireRequest, list[str]]:
    """Return the request (without secret headers, with url and body masked), and the names of what is hidden."""
    redactor, signed = call.exchange.journal.redactor, call.signed()
    headers = signed.metadata if isinstance(signed, GrpcRequest) else signed.headers
    shown = {name: value for name, value in headers.items() if redactor.headers([(name, value)]) == ((name, value),)}
    hidden = [name for name in headers if name not in shown]
    if isinstance(call.wire, GrpcRequest):
        return replace(call.wire, metadata=shown, body=masked, certificate=signed.certificate), hidden
    if signed.url != call.wire.url:
        hidden.append("the API key in the URL")
    url = redactor.url(call.wire.url)
    wire = replace(call.wire, url=url, headers=shown, body=masked, splices=(), certificate=signed.certificate)
    return wire, hidden


def make_parts(specs: Sequence[PartSpec]) -> tuple[DraftPart, ...]:
    """Return the parts in their order; raises `FaultError` for data that is not JSON, and text that is not UTF-8."""
    from_stdin = [f"--{spec.kind} -" for spec in specs if spec.kind in _READ_FROM_STDIN and spec.value == STDIN]
    if len(set(from_stdin)) > 1:
        seen = f"{' and '.join(dict.fromkeys(from_stdin))} contradict each other: stdin can be read only once."
        raise usage(seen, "Use a file for the data.")
    if len(from_stdin) > 1:
        raise usage(f"{from_stdin[0]} is given twice, but stdin can be read only once.", "Remove one of them.")
    return tuple(_part(spec) for spec in specs)


def _part(spec: PartSpec) -> DraftPart:
    kind, value = PartKind(spec.kind), spec.value
    if kind is PartKind.FILE and value.startswith(("http://", "https://")):
        kind = PartKind.LINK
    if kind is PartKind.TEXT and value == STDIN:
        value = _text_of_stdin()
    if kind in (PartKind.FILE, PartKind.DATA) and value.startswith("@") and not os.path.exists(value):  # noqa: PTH110 - see below
        raise usage(f"--{kind}: the file {brief(value)} does not exist.", "Write the path without @.")
    if kind is PartKind.DATA:
        if value.lstrip().startswith(("{", "[")) and not os.path.exists(value):  # noqa: PTH110 - Path raises for a long name
            seen = f"--data: {brief(value)} is not a file, and JSON cannot be given as an argument."
            raise usage(seen, "Write the JSON to a file, or pipe it to --data -.")
        raw = _read(value, "file")
        parsed = parse_strictly(raw)
        if isinstance(parsed, Unreadable):
            raise usage(
                f"--data: {'stdin' if value == STDIN else value} could not be read: {parsed.why}.", "Check its syntax."
            )
        value = raw.decode("utf-8")
    return DraftPart(kind, value, spec.media_type, spec.filename, spec.metadata)


def _text_of_stdin() -> str:
    """Return the text of stdin without the line break at its end; raises `FaultError`."""
    if sys.stdin.isatty():
        raise usage("--text - reads stdin, but stdin is a terminal.", "Pipe the text, or write it after --text.")
    try:
        text = _read(STDIN, "text").decode("utf-8")
    except UnicodeDecodeError as error:
        seen = f"--text: stdin is not UTF-8 text (byte {error.start + 1:,})."
        raise usage(seen, "Convert the text to UTF-8, or send the bytes as a file with --file.") from error
    return text.removesuffix("\n").removesuffix("\r")


def _read(source: Path | str, kind: str) -> bytes:
    """Read a file or stdin (`-`); raises `FaultError`, also if it has more than `_LARGEST` bytes."""
    try:
        return read_limited(sys.stdin.buffer if str(source) == STDIN else Path(source), _LARGEST)
    except OSError as error:
        raise usage(
            f"The {kind} {Path(source)} could not be read: {error.strerror or error}.", "Check the path."
        ) from error
