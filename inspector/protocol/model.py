"""The canonical objects: what every version's wire is read into, shaped like A2A 1.0 (section 4).

Reading is lenient about absence and strict about types: a member that the specification requires and the agent
left out has a neutral default here (and a finding elsewhere), a member of the wrong type (`"5"` for 5, 1 for true)
makes the object `Unreadable`. Of what agents say, `forgiving.py` reads the rest without the optional members of the
wrong type, which are those that may be None here. Members that no specification names stay in `model_extra` and are
written back unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast
from pydantic.alias_generators import to_camel

Json: TypeAlias = Any
"""Any JSON value as `json.loads` gives it."""


class _FirstErrorOnly(FailFast):
    """Ends the reading of a list at its first bad item: collecting millions of errors takes gigabytes.

    Unlike its base it can be hashed, which `Items[Part] | None` asks of it.
    """

    __hash__ = object.__hash__


ItemT = TypeVar("ItemT")
Items: TypeAlias = Annotated[list[ItemT], _FirstErrorOnly()]
"""A list that an agent sends."""


class Wire(BaseModel):
    """A frozen object whose members are spelled in camelCase on the wire and keep unknown companions.

    `essential` names the optional members without which, or wrongly read, the object would say something else.
    """

    essential: ClassVar[frozenset[str]] = frozenset()

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        protected_namespaces=(),
    )

    def to_json(self) -> dict[str, Json]:
        """Return the members that were set, under their wire names, unknown ones included."""
        return self.model_dump(by_alias=True, exclude_unset=True)

    def with_values(self, values: Mapping[str, Json]) -> Self:
        """Return a copy in which members that are set have other values; they are not validated.

        It takes a third of the time of `model_copy`.
        """
        copy = object.__new__(type(self))
        object.__setattr__(copy, "__dict__", {**self.__dict__, **values})
        object.__setattr__(copy, "__pydantic_fields_set__", self.__pydantic_fields_set__)
        object.__setattr__(copy, "__pydantic_extra__", self.__pydantic_extra__)
        object.__setattr__(copy, "__pydantic_private__", self.__pydantic_private__)
        return copy


class Part(Wire):
    """One piece of content: exactly one of text, raw (base64), url and data (1.0 section 4.1.6)."""

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
        """Name the member that carries the content: `text`, `raw`, `url`, `data`, or `""` where none is set."""
        if self.text is not None:
            return "text"
        if self.raw is not None:
            return "raw"
        if self.url is not None:
            return "url"
        return "data" if "data" in self.model_fields_set else ""


class Message(Wire):
    """One turn of a conversation (1.0 section 4.1.4)."""

    message_id: str = ""
    context_id: str | None = None
    task_id: str | None = None
    role: str = ""
    parts: Items[Part] = []
    metadata: dict[str, Json] | None = None
    extensions: Items[str] | None = None
    reference_task_ids: Items[str] | None = None


class TaskStatus(Wire):
    """A task's state at one time, with the agent's message about it (1.0 section 4.1.2)."""

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


class TaskStatusUpdateEvent(Wire):
    """A change of a task's status (1.0 section 4.2.1); `final` of 0.2 and 0.3 stays among the unknown members."""

    task_id: str = ""
    context_id: str | None = None
    status: TaskStatus = TaskStatus()
    metadata: dict[str, Json] | None = None


class TaskArtifactUpdateEvent(Wire):
    """An artifact, or a chunk of one (1.0 section 4.2.2); read without `append`, a chunk would replace its artifact."""

    essential: ClassVar[frozenset[str]] = frozenset({"append"})

    task_id: str = ""
    context_id: str | None = None
    artifact: Artifact = Artifact()
    append: bool | None = None
    last_chunk: bool | None = None
    metadata: dict[str, Json] | None = None


class AuthenticationInfo(Wire):
    """How a webhook wants to be authenticated to (1.0 section 4.3.2)."""

    scheme: str = ""
    credentials: str | None = None


class PushConfig(Wire):
    """Where and how to push the updates of a task (1.0 `TaskPushNotificationConfig`, section 4.3.1)."""

    tenant: str | None = None
    id: str | None = None
    task_id: str | None = None
    url: str = ""
    token: str | None = None
    authentication: AuthenticationInfo | None = None


class SendConfiguration(Wire):
    """What the client asks of a send (1.0 section 3.2.2)."""

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
    """The filters of ListTasks (1.0 section 3.1.4)."""

    tenant: str | None = None
    context_id: str | None = None
    status: str | None = None
    page_size: int | None = None
    page_token: str | None = None
    history_length: int | None = None
    status_timestamp_after: str | None = None
    include_artifacts: bool | None = None


class TaskList(Wire):
    """One page of tasks (1.0 section 3.1.4)."""

    tasks: Items[Task] = []
    next_page_token: str = ""
    page_size: int | None = None
    total_size: int | None = None


class PushConfigRequest(Wire):
    """Which push configuration is meant, or, without an id, all of a task's (1.0 sections 3.1.8 to 3.1.10)."""

    tenant: str | None = None
    task_id: str = ""
    id: str | None = None
    page_size: int | None = None
    page_token: str | None = None


class PushConfigList(Wire):
    """One page of push configurations (1.0 section 3.1.9)."""

    configs: Items[PushConfig] = []
    next_page_token: str | None = None


class ExtendedCardRequest(Wire):
    """The parameters of GetExtendedAgentCard (1.0 section 3.1.11)."""

    tenant: str | None = None


class Deleted(Wire):
    """The empty result of deleting a push configuration (1.0 section 3.1.10)."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A value that could not be read as what it should be: the value itself and why, in words."""

    value: Json
    why: str


Event: TypeAlias = Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent
"""What a stream, a webhook or a send can carry."""

Request: TypeAlias = SendRequest | TaskRequest | ListTasksRequest | PushConfig | PushConfigRequest | ExtendedCardRequest
"""The parameters of any operation."""
