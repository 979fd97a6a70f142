"""The message that was typed: a draft from options or from a snippet, and what it would look like on the wire."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from inspector.cli.commands.send import PartSpec
from inspector.cli.errors import usage
from inspector.cli.output import Output
from inspector.protocol.bindings.base import GrpcRequest, HttpRequest, WireRequest
from inspector.protocol.errors import Fault
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Unreadable
from inspector.session.call import Call
from inspector.session.compose.build import compose
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft
from inspector.session.compose.snippets import SnippetError, fill_variables, load, variables
from inspector.session.exporters import REQUEST_FORMATS
from inspector.session.session import Session

_STDIN = "-"
_LARGEST = 64_000_000
"""How large a request in a file may be, in bytes."""


def make_draft(given: Namespace) -> Draft:
    """Make the draft of what was typed; raises `FaultError` where it cannot be sent."""
    if given.request is not None:
        if getattr(given, "parts", ()) or given.snippet:
            raise usage("--request sends a request as it is.", "Leave the parts and the snippet out.")
        return text_draft("")
    draft = _of_snippet(given) if given.snippet else Draft(())
    draft = _changed(replace(draft, parts=(*draft.parts, *make_parts(getattr(given, "parts", ())))), given)
    if not draft.parts:
        raise usage("The message has no parts.", "Give it some with --text, --file or --data.")
    compose(draft).check()
    return draft


def _of_snippet(given: Namespace) -> Draft:
    try:
        draft = load(given.snippet).draft
    except SnippetError as error:
        raise usage(str(error)) from error
    values = {**os.environ, **dict(given.var or ())}
    missing = [name for name in variables(draft) if name not in values]
    if missing:
        hint = " ".join(f"--var {name}=..." for name in missing)
        raise usage(f"The snippet has variables without a value: {', '.join(missing)}.", f"Give them: {hint}")
    return fill_variables(draft, values)


def _changed(draft: Draft, given: Namespace) -> Draft:
    """Return a draft with what was typed besides the parts in place of what it has."""
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


def prepare(session: Session, given: Namespace, draft: Draft, *, stream: bool) -> Call:
    """Prepare what was typed to be sent: the draft, or the request in a file."""
    call = session.send(draft, stream=stream)
    return call if given.request is None else session.send_raw(_text_of(given.request), call)


def _text_of(path: Path) -> str:
    try:
        if str(path) == _STDIN:
            raw = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with path.open("rb") as file:
                raw = file.read(_LARGEST + 1)
    except OSError as error:
        raise usage(f"The request {path} could not be read: {error.strerror or error}.") from error
    if len(raw) > _LARGEST:
        raise usage(f"The request {path} is larger than {_LARGEST:,} bytes.")
    return raw.decode("utf-8", "surrogateescape")


def show(call: Call, form: str, out: Output) -> None:
    """Print what would be sent, without secrets; raises `FaultError` where the form cannot say it."""
    seen = call.preview()
    if isinstance(seen, Fault):
        raise usage(seen.seen, seen.hint)
    chosen = next(one for one in REQUEST_FORMATS if one.name == form)
    wire, hidden = _without_secrets(call, seen.body)
    if chosen.is_program and isinstance(call.wire, HttpRequest) and call.wire.insets:
        wire = call.wire  # for which the format says why it has no program
    text = chosen.write(wire, call.exchange.call)
    if chosen.is_program and not text.endswith("\n"):
        text += "\n"
    if hidden and form != "json":
        out.tell("Left out, being secret", ", ".join(hidden))
    out.exact(text)


def _without_secrets(call: Call, masked: bytes) -> tuple[WireRequest, list[str]]:
    """Return what goes out without the headers that are secret, and their names; secrets in url and body are masked."""
    redactor, signed = call.exchange.journal.redactor, call.signed()
    headers = signed.metadata if isinstance(signed, GrpcRequest) else signed.headers
    shown = {name: value for name, value in headers.items() if redactor.headers([(name, value)]) == ((name, value),)}
    hidden = [name for name in headers if name not in shown]
    if isinstance(call.wire, GrpcRequest):
        return replace(call.wire, metadata=shown, body=masked), hidden
    if signed.url != call.wire.url:
        hidden.append("the key in the url")
    url = redactor.url(call.wire.url)
    return replace(call.wire, url=url, headers=shown, body=masked, insets=()), hidden


def make_parts(specs: Sequence[PartSpec]) -> tuple[DraftPart, ...]:
    """Make the parts in order; raises `FaultError` where JSON cannot be read."""
    if sum(spec.kind == PartKind.DATA and spec.value == _STDIN for spec in specs) > 1:
        raise usage("--data - stands there twice, and stdin can be read once.")
    return tuple(_part(spec) for spec in specs)


def _part(spec: PartSpec) -> DraftPart:
    kind, value = PartKind(spec.kind), spec.value
    if kind is PartKind.FILE and value.startswith(("http://", "https://")):
        kind = PartKind.LINK
    if kind is PartKind.DATA:
        value = _json(spec.value)
    return DraftPart(kind, value, spec.media_type, spec.filename, spec.metadata)


def _json(place: str) -> str:
    raw = sys.stdin.buffer.read() if place == _STDIN else _read(Path(place))
    value = parse(raw)
    if isinstance(value, Unreadable):
        where = "stdin" if place == _STDIN else place
        raise usage(f"--data: {where} holds no JSON: {value.why}.")
    return raw.decode("utf-8")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise usage(f"The file {path} could not be read: {error.strerror or error}.") from error
