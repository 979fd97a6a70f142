"""Conversions for the versions before 1.0: roles, states, parts with a discriminator, push configurations.

`import_*` converts the JSON of a version to the canonical JSON, `export_*` the canonical JSON to that of a version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from inspector.protocol.dialects.rewriting import Change, inverse, without
from inspector.protocol.lifecycle import State, is_settled
from inspector.protocol.model import Artifact, Event, Json, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent

ROLES: Mapping[str, str] = {"user": "ROLE_USER", "agent": "ROLE_AGENT"}
STATES: Mapping[str, str] = {
    "submitted": State.SUBMITTED,
    "working": State.WORKING,
    "input-required": State.INPUT_REQUIRED,
    "auth-required": State.AUTH_REQUIRED,
    "completed": State.COMPLETED,
    "failed": State.FAILED,
    "canceled": State.CANCELED,
    "rejected": State.REJECTED,
    "unknown": State.UNSPECIFIED,
}
_FILE = {"bytes": "raw", "uri": "url", "name": "filename", "mimeType": "mediaType"}


def kind_of(part: dict[str, Json]) -> str:
    """Return the kind that a canonical part has in versions before 1.0: `text`, `file` or `data`."""
    if part.get("raw") is not None or part.get("url") is not None:
        return "file"
    return "data" if "data" in part and part.get("text") is None else "text"


def flatten_file(part: dict[str, Json], names: Mapping[str, str]) -> dict[str, Json]:
    """Move the members of `file` that are in `names` into the part; unknown members stay in `file`."""
    file = part.get("file")
    if not isinstance(file, dict):
        return part
    lifted = without(part, "file") | {
        names[name]: member for name, member in file.items() if name in names and member is not None
    }
    unknown = without(file, *names)
    return lifted | {"file": unknown} if unknown else lifted


def nest_file(part: dict[str, Json], names: Mapping[str, str]) -> dict[str, Json]:
    """Move the members of a canonical part that describe its file into `file`."""
    unknown = part.get("file", {})
    if not isinstance(unknown, dict):
        return part
    file = {spelled: part[name] for name, spelled in inverse(names).items() if name in part}
    return without(part, *names.values()) | {"file": file | unknown}


def import_part(mark: str) -> Change:
    """Return the conversion of a part from a version whose discriminator is the member `mark`."""

    def convert(value: Json) -> Json:
        if not isinstance(value, dict):
            return value
        part = flatten_file(value, _FILE)
        return without(part, mark) if part.get(mark) == kind_of(part) else part

    return convert


def export_part(mark: str) -> Change:
    """Return the conversion of a part to a version whose discriminator is the member `mark`."""

    def convert(value: Json) -> Json:
        part = {mark: kind_of(value)} | value
        return nest_file(part, _FILE) if "file" in (part[mark], kind_of(value)) else part

    return convert


def import_push(value: Json) -> Json:
    """Convert `{taskId, pushNotificationConfig: {...}}`, or the inner object, to the flat push configuration of 1.0."""
    if not isinstance(value, dict):
        return value
    flat = value
    if isinstance(flat.get("pushNotificationConfig"), dict):
        outer_id = {"taskId": flat["taskId"]} if "taskId" in flat else {}
        flat = without(flat, "pushNotificationConfig") | flat["pushNotificationConfig"] | outer_id
    authentication = flat.get("authentication")
    if isinstance(authentication, dict) and isinstance(authentication.get("schemes"), list):
        first, *others = authentication["schemes"] or [""]
        rest = authentication if others else without(authentication, "schemes")
        flat = flat | {"authentication": rest | {"scheme": first}}
    return flat


def export_push(value: Json) -> Json:
    """Convert a push configuration to the inner object: with its scheme in a list, and without a tenant."""
    if not isinstance(value, dict):
        return value
    config = without(value, "tenant")
    if isinstance(config.get("authentication"), dict):
        authentication = config["authentication"].copy()
        scheme, schemes = authentication.pop("scheme", ""), authentication.get("schemes", [])
        if scheme and not (isinstance(schemes, list) and schemes[:1] == [scheme]):
            schemes = [scheme]
        config["authentication"] = authentication | {"schemes": schemes}
    return config


def import_configuration(push_member: str) -> Change:
    """Return the conversion of a send configuration whose push configuration is the member `push_member`."""

    def convert(value: Json) -> Json:
        if not isinstance(value, dict):
            return value
        configuration = without(value, "blocking", push_member)
        blocking, push = value.get("blocking"), value.get(push_member)
        if blocking is not None:
            configuration["returnImmediately"] = not blocking if isinstance(blocking, bool) else blocking
        if push is not None:
            configuration["taskPushNotificationConfig"] = import_push(push)
        return configuration

    return convert


def is_final(update: TaskStatusUpdateEvent) -> bool:
    """Return whether a status update is the last event of its stream: its state is terminal or interrupted."""
    return is_settled(update.status.state)


EventT = TypeVar("EventT", bound=Event)


def without_older_members(event: EventT) -> EventT:
    """Return an event of an older version without its members that 1.0 does not define: `final`, and `index` in 0.1."""
    match event:
        case TaskStatusUpdateEvent(model_extra={"final": _}):
            update = event.model_copy()
            (update.model_extra or {}).pop("final")
            return update
        case TaskArtifactUpdateEvent(artifact=Artifact(model_extra={"index": _})):
            return event.model_copy(update={"artifact": _without_index(event.artifact)})
        case Task(artifacts=list()):
            artifacts = [_without_index(artifact) for artifact in event.artifacts or ()]
            return event.model_copy(update={"artifacts": artifacts})
        case _:
            return event


def _without_index(artifact: Artifact) -> Artifact:
    copy = artifact.model_copy()
    (copy.model_extra or {}).pop("index", None)
    return copy
