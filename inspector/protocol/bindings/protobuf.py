"""Convert between protobuf messages and JSON, with descriptor sets in separate pools.

The default pool of the process is not used, because another A2A library may have registered types of the same names
with other fields. The protobuf library is loaded when the first message is converted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from pydantic.alias_generators import to_camel

from inspector.protocol.jsonvalue import MOST_CONTAINERS
from inspector.protocol.model import Json, Unreadable

_SETS = Path(__file__).with_name("proto")
_QUOTED = 500
"""How many bytes of an unreadable message are quoted."""

_LEAST_OF_FIELD = 2
"""The smallest size of a field in bytes; a message needs `MOST_CONTAINERS` times this size to have too many fields."""


class AddedField(NamedTuple):
    """A 64-bit integer field that a version adds to a message of its base version."""

    message: str
    name: str
    number: int
    optional: bool = False


class ExtendedSet(NamedTuple):
    """A descriptor set with additional fields in its messages."""

    base: str
    added: tuple[AddedField, ...]


Descriptors: TypeAlias = str | ExtendedSet
"""The name of a descriptor set, or a descriptor set with additional fields."""


@cache
def _pool(descriptors: Descriptors) -> tuple[Any, str]:
    """Return the pool with the types of a descriptor set, and the package of its last file."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet  # noqa: PLC0415 - most sessions need no protobuf
    from google.protobuf.descriptor_pool import DescriptorPool  # noqa: PLC0415 - likewise

    base, added = descriptors if isinstance(descriptors, ExtendedSet) else (descriptors, ())
    files = FileDescriptorSet.FromString((_SETS / f"{base}.binpb").read_bytes()).file
    for field in added:
        _add(next(message for message in files[-1].message_type if message.name == field.message), field)
    pool = DescriptorPool()
    for file in files:
        pool.Add(file)
    return pool, files[-1].package


def _add(message: Any, field: AddedField) -> None:
    """Add a field to the descriptor of a message."""
    optional = {"proto3_optional": True, "oneof_index": len(message.oneof_decl)} if field.optional else {}
    if optional:
        message.oneof_decl.add(name=f"_{field.name}")
    message.field.add(
        name=field.name,
        number=field.number,
        label="LABEL_OPTIONAL",
        type="TYPE_INT64",
        json_name=to_camel(field.name),
        **optional,
    )


@cache
def message_class(descriptors: Descriptors, name: str) -> Any:
    """Return the class of a message type; a name without dots is in the package of the descriptor set."""
    from google.protobuf.message_factory import GetMessageClass  # noqa: PLC0415 - likewise

    pool, package = _pool(descriptors)
    return GetMessageClass(pool.FindMessageTypeByName(name if "." in name else f"{package}.{name}"))


def read(descriptors: Descriptors, name: str, raw: bytes) -> Json | Unreadable:
    """Read a message as ProtoJSON: with camelCase names, and without members that have their default value.

    Numbers in a `Struct` or a `Value` are floats. A message is rejected if its encoding is invalid, or if it has text
    that is not UTF-8, more than 100 levels of messages, NaN or Infinity in data, dates outside of the years 1 to 9999,
    or more than `MOST_CONTAINERS` fields.
    """
    from google.protobuf import json_format  # noqa: PLC0415 - likewise
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - likewise

    kind = message_class(descriptors, name)
    quoted = raw[:_QUOTED].hex()
    if len(raw) > MOST_CONTAINERS * _LEAST_OF_FIELD and _is_too_rich(kind.DESCRIPTOR, raw):
        return Unreadable(quoted, f"more than {MOST_CONTAINERS:,} fields")
    try:
        message = kind.FromString(raw)
    except DecodeError as error:
        why = str(error).rpartition(": ")[2]
        return Unreadable(quoted, f"not a valid {kind.DESCRIPTOR.full_name} message: {why[:1].lower()}{why[1:]}")
    try:
        return json_format.MessageToDict(message, descriptor_pool=_pool(descriptors)[0])
    except (json_format.Error, ValueError, OverflowError) as error:
        return Unreadable(quoted, f"{kind.DESCRIPTOR.full_name} cannot be represented in JSON: {error}")


def write(descriptors: Descriptors, name: str, value: Json, *, whole: bool = True) -> bytes:
    """Write JSON as a message; raises `ValueError` with the name of a member that is unknown or has a wrong type.

    Without `whole`, unknown members are left out.
    """
    from google.protobuf import json_format  # noqa: PLC0415 - likewise

    message = message_class(descriptors, name)()
    try:
        json_format.ParseDict(value, message, ignore_unknown_fields=not whole, descriptor_pool=_pool(descriptors)[0])
    except (json_format.Error, OverflowError, TypeError) as error:
        raise ValueError(str(error)) from error
    return bytes(message.SerializeToString(deterministic=True))


def _is_too_rich(descriptor: Any, raw: bytes) -> bool:
    """Return whether a message has more length-delimited fields, at all levels, than are allowed.

    They are counted in the bytes, because the library would allocate memory for each of them.
    """
    fields = 0
    todo = [(descriptor, 0, len(raw))]
    while todo:
        current, start, end = todo.pop()
        for number, first, last in _delimited(raw, start, end):
            fields += 1
            if fields > MOST_CONTAINERS:
                return True
            field = current.fields_by_number.get(number)
            if field is not None and field.message_type is not None:
                todo.append((field.message_type, first, last))
    return False


def _delimited(raw: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of each length-delimited field, up to the first invalid byte."""
    while at < end:
        tag, at = _varint(raw, at, end)
        match tag & 7:
            case 0:
                _, at = _varint(raw, at, end)
            case 1:
                at += 8
            case 2:
                size, at = _varint(raw, at, end)
                if at + size > end:
                    return
                yield tag >> 3, at, at + size
                at += size
            case 5:
                at += 4
            case _:
                return


def _varint(raw: bytes, at: int, end: int) -> tuple[int, int]:
    """Read a varint of at most ten bytes; return it and the position after it (the end for an invalid varint)."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            return 0, end
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    return 0, end
