"""Replace ids in recorded bytes, so that all other bytes stay as they were recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from inspector.protocol.bindings.jsonrpc import RequestId
from inspector.protocol.bindings.protobuf import message_class
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.jsonvalue import dump
from inspector.protocol.operations import Operation

from .identities import Replacements

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*"'
_TOKEN = re.compile(_STRING + rb'|[{}\[\]:,]|[^\s{}\[\]:,"]++', re.DOTALL)


def replace_members(raw: bytes, replacements: Replacements) -> bytes:
    """Replace the texts of members in JSON, also in an SSE frame; other bytes do not change."""
    if not replacements:
        return raw
    names = b"|".join(re.escape(name.encode()) for name in sorted(replacements))
    pattern = re.compile(rb'"(' + names + rb')"(\s*:\s*)(' + _STRING + rb")", re.DOTALL)

    def replaced(found: re.Match[bytes]) -> bytes:
        new = replacements[found[1].decode()].get(_text(found[3]))
        return found[0] if new is None else b'"' + found[1] + b'"' + found[2] + dump(new)

    return pattern.sub(replaced, raw)


def _text(token: bytes) -> str:
    """Return the text of a JSON string."""
    if b"\\" not in token:
        return token[1:-1].decode("utf-8", "replace")
    try:
        return str(json.loads(token))
    except ValueError:
        return ""


def replace_request_id(raw: bytes, recorded: RequestId, sent: RequestId) -> bytes:
    """Replace the id of a JSON-RPC response, also in an SSE frame, if it is the id of the recorded request."""
    if recorded == sent and type(recorded) is type(sent):
        return raw
    value = _top_level_id(raw)
    if value is None or json.dumps(_json(value[0])) != json.dumps(recorded):
        return raw
    _, start, end = value
    return raw[:start] + dump(sent) + raw[end:]


def _json(token: bytes) -> Any:
    try:
        return json.loads(token)
    except ValueError:
        return {"invalid": token.decode("latin-1")}


def _top_level_id(raw: bytes) -> tuple[bytes, int, int] | None:
    """Return the value of the member `id` of the outermost object, with its start and its end."""
    depth, key = 0, b""
    for found, following in _pairs(raw):
        token = found[0]
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and token == b":":
            if key == b'"id"' and following is not None:
                return following[0], following.start(), following.end()
        elif depth == 1:
            key = token
    return None


def _pairs(raw: bytes) -> Iterator[tuple[re.Match[bytes], re.Match[bytes] | None]]:
    """Yield each token of JSON with the token after it, from the first brace on."""
    tokens = _TOKEN.finditer(raw, max(raw.find(b"{"), 0))
    current = next(tokens, None)
    while current is not None:
        following = next(tokens, None)
        yield current, following
        current = following


def replace_in_message(raw: bytes, dialect: Dialect, operation: Operation, replacements: Replacements) -> bytes:
    """Replace the texts of fields in the message of a gRPC response; without any, the bytes do not change."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - loaded with the first call over gRPC

    service = dialect.service
    if not replacements or service is None:
        return raw
    try:
        message = message_class(service.descriptors, service.methods[operation].response).FromString(raw)
    except DecodeError:
        return raw
    if not _replace_fields(message, replacements):
        return raw
    return bytes(message.SerializeToString(deterministic=True))


def _replace_fields(message: Any, replacements: Replacements) -> bool:
    """Replace texts in a message at every depth; return whether there were any."""
    changed = False
    for field, value in message.ListFields():
        if field.message_type is not None:
            if field.message_type.GetOptions().map_entry:
                continue  # metadata and data have no ids of the protocol
            items = [value] if hasattr(value, "ListFields") else list(value)
            for item in items:
                changed |= _replace_fields(item, replacements)
        elif isinstance(value, str) and value in replacements.get(field.json_name, {}):
            setattr(message, field.name, replacements[field.json_name][value])
            changed = True
    return changed
