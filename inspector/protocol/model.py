"""The canonical objects, in the format of A2A 1.0 (section 4); the JSON of every protocol version is converted to them.

Reading accepts missing members and rejects wrong types:

- A required member that is missing has a neutral default. A finding reports it.
- A member of the wrong type (`"5"` for 5, 1 for true) makes the object `Unreadable`. `lenient_read.py` reads objects of
  agents without such members if they are optional (may be None).
- Unknown members are stored in `model_extra` and written back unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast
from pydantic.alias_generators import to_camel

from inspector.lazy_dataclass import dataclass

Json: TypeAlias = Any
"""Any JSON value, in the types of `json.loads`."""


class _FirstErrorOnly(FailFast):
    """Stop reading a list at its first invalid item, because collecting millions of errors needs gigabytes.

    It can be hashed, which `Items[Part] | None` requires.
    """

    __hash__ = object.__hash__


ItemT = TypeVar("ItemT")
Items: TypeAlias = Annotated[list[ItemT], _FirstErrorOnly()]
"""A list in a message from an agent."""


class Wire(BaseModel):
    """The base of all canonical objects: immutable, with camelCase names in JSON, and with unknown members.

    `lenient_read` leaves out members of the wrong type: optional members, with `all_optional` also the others. It never
    leaves out the members in `essential`, without which the object would have another meaning.
    """

    essential: ClassVar[frozenset[str]] = frozenset()
    all_optional: ClassVar[bool] = False

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        ser_json_inf_nan="constants",
        protected_namespaces=(),
    )

    def to_json(self) -> dict[str, Json]:
        """Return the members that were set, including unknown members, with their names in JSON."""
        return self.model_dump(by_alias=True, exclude_unset=True)

    def dump_json(self) -> bytes:
        """Return the members of `to_json` as JSON text; infinity is `Infinity`, which is not JSON."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_unset=True)

    def with_values(self, values: Mapping[str, Json]) -> Self:
        """Return a copy with other values for members that are set, without validation.

        It is three times as fast as `model_copy`.
        """
        copy = object.__new__(type(self))
        object.__setattr__(copy, "__dict__", {**self.__dict__, **values})
        object.__setattr__(copy, "__pydantic_fields_set__", self.__pydantic_fields_set__)
        object.__setattr__(copy, "__pydantic_extra__", self.__pydantic_extra__)
        object.__setattr__(copy, "__pydantic_private__", self.__pydantic_private__)
        return copy


class Part(Wire):
    """A part of a message or an artifact, with exactly one of text, raw (base64), url and data (1.0 section 4.1.6)."""

    essential: ClassVar[frozenset[str]] = frozenset({"text", "raw", "url"})

    text: str | None = None
    raw: str | None = None
    url: str | None = None
    data: Json = None
    filename: str | None = None
    media_type: str | None = None
    metadata: dict[str, Json] | None = None

    @property
    def content(self) -> str:
        """Return the name of the member with the content: `text`, `raw`, `url`, `data`, or `""` if none is set."""
        if self.text is not None:
            return "text"
        if self.raw is not None:
            return "raw"
        if self.url is not None:
            return "url"
        return "data" if "data" in self.model_fields_set else ""


class Message(Wire):
    """A message of the user or the agent (1.0 section 4.1.4)."""

    message_id: str = ""
    context_id: str | None = None
    task_id: str | None = None
    role: str = ""
    parts: Items[Part] = []
    metadata: dict[str, Json] | None = None
    extensions: Items[str] | None = None
    reference_task_ids: Items[str] | None = None


class TaskStatus(Wire):
    """The state of a task at a point in time, with an optional message of the agent (1.0 section 4.1.2)."""

    state: str = ""
    message: Message | None = None
    timestamp: str | None = None


class Artifact(Wire):
    """An output of a task (1.0 section 4.1.7)."""

    artifact_id: str = ""
    name: str | None = None
    description: str | None = None
    parts: Items[Part] = []
    metadata: dict[str, Json] | None = None
    extensions: Items[str] | None = None


class Task(Wire):
    """The unit of work (1.0 section 4.1.1)."""

    id: str = ""
    context_id: str | None = None
    status: TaskStatus = TaskStatus()
    artifacts: Items[Artifact] | None = None
    history: Items[Message] | None = None
    metadata: dict[str, Json] | None = None

    @property
    def task_id(self) -> str:
        """Return the id, under the name that it has in the other events."""
        return self.id


class TaskStatusUpdateEvent(Wire):
    """A new status of a task (1.0 section 4.2.1); `final` of 0.2 and 0.3 is an unknown member here."""

    task_id: str = ""
    context_id: str | None = None
    status: TaskStatus = TaskStatus()
    metadata: dict[str, Json] | None = None


class TaskArtifactUpdateEvent(Wire):
    """An artifact or a chunk of an artifact (1.0 section 4.2.2); without `append`, a chunk replaces the artifact."""

    essential: ClassVar[frozenset[str]] = frozenset({"append"})

    task_id: str = ""
    context_id: str | None = None
    artifact: Artifact = Artifact()
    append: bool | None = None
    last_chunk: bool | None = None
    metadata: dict[str, Json] | None = None


class AuthenticationInfo(Wire):
    """How the agent authenticates to a webhook (1.0 section 4.3.2)."""

    scheme: str = ""
    credentials: str | None = None


class PushConfig(Wire):
    """The webhook to which the updates of a task are pushed (1.0 `TaskPushNotificationConfig`, section 4.3.1)."""

    tenant: str | None = None
    id: str | None = None
    task_id: str | None = None
    url: str = ""
    token: str | None = None
    authentication: AuthenticationInfo | None = None


class SendConfiguration(Wire):
    """The configuration of SendMessage and SendStreamingMessage (1.0 section 3.2.2)."""

    accepted_output_modes: Items[str] | None = None
    task_push_notification_config: PushConfig | None = None
    history_length: int | None = None
    return_immediately: bool | None = None


class SendRequest(Wire):
    """The parameters of SendMessage and SendStreamingMessage (1.0 section 3.2.1)."""

    tenant: str | None = None
    message: Message = Message()
    configuration: SendConfiguration | None = None
    metadata: dict[str, Json] | None = None


class TaskRequest(Wire):
    """The parameters of GetTask, CancelTask and SubscribeToTask (1.0 sections 3.1.3, 3.1.5, 3.1.6)."""

    tenant: str | None = None
    id: str = ""
    history_length: int | None = None
    metadata: dict[str, Json] | None = None


class ListTasksRequest(Wire):
    """The parameters of ListTasks (1.0 section 3.1.4)."""

    tenant: str | None = None
    context_id: str | None = None
    status: str | None = None
    page_size: int | None = None
    page_token: str | None = None
    history_length: int | None = None
    status_timestamp_after: str | None = None
    include_artifacts: bool | None = None


class TaskList(Wire):
    """A page of tasks (1.0 section 3.1.4)."""

    tasks: Items[Task] = []
    next_page_token: str = ""
    page_size: int | None = None
    total_size: int | None = None


class PushConfigRequest(Wire):
    """The parameters to get, list or delete push configurations (1.0 sections 3.1.8 to 3.1.10)."""

    tenant: str | None = None
    task_id: str = ""
    id: str | None = None
    page_size: int | None = None
    page_token: str | None = None


class PushConfigList(Wire):
    """A page of push configurations (1.0 section 3.1.9)."""

    configs: Items[PushConfig] = []
    next_page_token: str | None = None


class ExtendedCardRequest(Wire):
    """The parameters of GetExtendedAgentCard (1.0 section 3.1.11)."""

    tenant: str | None = None


class Deleted(Wire):
    """The empty result of deleting a push configuration (1.0 section 3.1.10)."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A value that could not be read as the expected object, and the reason (`why`, a phrase)."""

    value: Json
    why: str


Event: TypeAlias = Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent
"""An object in a stream, in a push notification, or in the response to SendMessage."""

Request: TypeAlias = SendRequest | TaskRequest | ListTasksRequest | PushConfig | PushConfigRequest | ExtendedCardRequest
"""The parameters of any operation."""
