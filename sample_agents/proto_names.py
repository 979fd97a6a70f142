"""Accept parameters under their protobuf names (`task_id`), which ProtoJSON allows besides camelCase."""

from __future__ import annotations

from inspector.protocol.model import AuthenticationInfo, Json, Message, Part, SendConfiguration, Wire
from inspector.protocol.operations import REQUESTS

_FREE_FORM = ("data", "metadata")
"""Members with free-form content: the names in them are not changed."""
_READ: tuple[type[Wire], ...] = (*REQUESTS.values(), SendConfiguration, Message, Part, AuthenticationInfo)
_CAMEL = {
    name: field.alias
    for model in _READ
    for name, field in model.model_fields.items()
    if field.alias is not None and field.alias != name
}


def camel_case(value: Json) -> Json:
    """Return parameters with camelCase names; if both names of a member occur, the camelCase member is used."""
    if isinstance(value, list):
        return [camel_case(member) for member in value]
    if not isinstance(value, dict):
        return value
    renamed = {_CAMEL[name]: member for name, member in value.items() if name in _CAMEL}
    renamed |= {name: member for name, member in value.items() if name not in _CAMEL}
    return {name: member if name in _FREE_FORM else camel_case(member) for name, member in renamed.items()}
