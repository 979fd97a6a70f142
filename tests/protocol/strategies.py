"""Hypothesis strategies for JSON and for the canonical objects."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from inspector.protocol.card import (
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentProvider,
    AgentSkill,
)
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.lifecycle import State
from inspector.protocol.model import (
    Artifact,
    AuthenticationInfo,
    ExtendedCardRequest,
    ListTasksRequest,
    Message,
    Part,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    SendConfiguration,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskList,
    TaskRequest,
    TaskStatus,
    TaskStatusUpdateEvent,
    Wire,
)


def name_of_dialect(dialect: Dialect) -> str:
    """Name a dialect in the id of a test."""
    return dialect.version if dialect.methods else f"{dialect.version} proto"


words = st.text(max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=6
)
json_objects = st.dictionaries(words, json_values, max_size=3)
unknown = st.dictionaries(st.sampled_from(["x-a", "vendor", "snake_case", "ünknown"]), json_values, max_size=2)
"""Members that no specification names."""

_NAMES = sorted(
    {str(field.alias) for model in (Wire.__subclasses__()) for field in model.model_fields.values()}
    | {
        "kind",
        "file",
        "bytes",
        "uri",
        "mimeType",
        "final",
        "blocking",
        "pushNotificationConfig",
        "schemes",
        "type",
        "in",
    }
    | {"security", "preferredTransport", "additionalInterfaces", "transport", "supportsAuthenticatedExtendedCard"}
    | {"sessionId", "index", "pushNotification", "authentication", "content", "fileWithBytes", "fileWithUri", "update"}
    | {"parent", "configId", "config", "request", "msg"}
    | {"pushNotificationConfigId", "statusUpdate", "artifactUpdate", "task", "error", "code", "result", "jsonrpc"}
)
_WORDS = ["tasks/t", "tasks/t/pushNotificationConfigs/c", "artifact-3", "TASK_STATE_CANCELLED"]
_WORDS += ["task", "message", "status-update", "artifact-update", "text", "file", "data", "user", "working", "http", ""]
protocol_json = st.recursive(
    scalars | st.sampled_from(_WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=6),
    max_leaves=25,
)
"""JSON that names what the protocol names, in the wrong places and with the wrong values."""


def objects(model: type[Wire], **members: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Build a canonical object from some of its members (with their Python names) and unknown members."""
    known = st.fixed_dictionaries({}, optional=members)
    spelled = {name: str(field.alias) for name, field in model.model_fields.items()}
    return st.builds(
        lambda chosen, others: model(**({spelled[name]: member for name, member in chosen.items()} | others)),
        known,
        unknown,
    )


def some(strategy: SearchStrategy[Any]) -> SearchStrategy[list[Any]]:
    return st.lists(strategy, max_size=2)


def part(data: SearchStrategy[Any] = json_values) -> SearchStrategy[Part]:
    annotations = {"filename": words, "media_type": words, "metadata": json_objects}
    return (
        objects(Part, text=words, **annotations)
        | objects(Part, raw=words, **annotations)
        | objects(Part, url=words, **annotations)
        | objects(Part, data=data, **annotations)
    )


roles = st.sampled_from(["ROLE_USER", "ROLE_AGENT", "ROLE_UNSPECIFIED", "narrator", ""])
states = st.sampled_from([*(state.value for state in State), "napping", ""])
parts = some(part())
messages = objects(
    Message,
    message_id=words,
    context_id=words,
    task_id=words,
    role=roles,
    parts=parts,
    metadata=json_objects,
    extensions=some(words),
    reference_task_ids=some(words),
)
statuses = objects(TaskStatus, state=states, message=messages, timestamp=words)
artifacts = objects(
    Artifact,
    artifact_id=words,
    name=words,
    description=words,
    parts=parts,
    metadata=json_objects,
    extensions=some(words),
)
tasks = objects(
    Task,
    id=words,
    context_id=words,
    status=statuses,
    artifacts=some(artifacts),
    history=some(messages),
    metadata=json_objects,
)
status_updates = objects(TaskStatusUpdateEvent, task_id=words, context_id=words, status=statuses, metadata=json_objects)
artifact_updates = objects(
    TaskArtifactUpdateEvent,
    task_id=words,
    context_id=words,
    artifact=artifacts,
    append=st.booleans(),
    last_chunk=st.booleans(),
    metadata=json_objects,
)
events = tasks | messages | status_updates | artifact_updates

sizes = st.integers(min_value=0, max_value=2**31)
tenants = words


def push_configs(**more: SearchStrategy[Any]) -> SearchStrategy[PushConfig]:
    authentication = objects(AuthenticationInfo, scheme=words, credentials=words)
    return objects(PushConfig, id=words, task_id=words, url=words, token=words, authentication=authentication, **more)


def requests(tenant: SearchStrategy[str] | None) -> dict[str, SearchStrategy[Any]]:
    """Strategies for the parameters of the operations, with a tenant or without."""
    more = {} if tenant is None else {"tenant": tenant}
    configuration = objects(
        SendConfiguration,
        accepted_output_modes=some(words),
        task_push_notification_config=push_configs(**more),
        history_length=sizes,
        return_immediately=st.booleans(),
    )
    return {
        "send": objects(SendRequest, message=messages, configuration=configuration, metadata=json_objects, **more),
        "task": objects(TaskRequest, id=words, history_length=sizes, metadata=json_objects, **more),
        "list": objects(
            ListTasksRequest,
            context_id=words,
            status=states,
            page_size=sizes,
            page_token=words,
            history_length=sizes,
            status_timestamp_after=words,
            include_artifacts=st.booleans(),
            **more,
        ),
        "push": push_configs(**more),
        "push query": objects(PushConfigRequest, task_id=words, id=words, page_size=sizes, page_token=words, **more),
        "card": objects(ExtendedCardRequest, **more),
    }


task_lists = objects(TaskList, tasks=some(tasks), next_page_token=words, page_size=sizes, total_size=sizes)
push_config_lists = objects(PushConfigList, configs=some(push_configs(tenant=words)), next_page_token=words)

wrappers = st.sampled_from(
    [
        "apiKeySecurityScheme",
        "httpAuthSecurityScheme",
        "oauth2SecurityScheme",
        "openIdConnectSecurityScheme",
        "mtlsSecurityScheme",
    ]
)
scheme_members = st.dictionaries(
    st.sampled_from(["location", "name", "scheme", "flows", "description", "openIdConnectUrl"]), json_values, max_size=3
)
schemes = st.dictionaries(wrappers, scheme_members, min_size=1, max_size=1)
requirements = some(
    st.fixed_dictionaries({"schemes": st.dictionaries(words, st.fixed_dictionaries({"list": some(words)}), max_size=2)})
)


def cards(**interface: SearchStrategy[Any]) -> SearchStrategy[AgentCard]:
    """Strategy for cards whose interfaces have these members."""
    extension = objects(AgentExtension, uri=words, description=words, required=st.booleans(), params=json_objects)
    skill = objects(
        AgentSkill,
        id=words,
        name=words,
        description=words,
        tags=some(words),
        examples=some(words),
        input_modes=some(words),
        output_modes=some(words),
        security_requirements=requirements,
    )
    return objects(
        AgentCard,
        name=words,
        description=words,
        supported_interfaces=st.lists(objects(AgentInterface, **interface), max_size=3),
        provider=objects(AgentProvider, organization=words, url=words),
        version=words,
        documentation_url=words,
        icon_url=words,
        capabilities=objects(
            AgentCapabilities,
            streaming=st.booleans(),
            push_notifications=st.booleans(),
            extended_agent_card=st.booleans(),
            extensions=some(extension),
        ),
        security_schemes=st.dictionaries(words, schemes, max_size=2),
        security_requirements=requirements,
        default_input_modes=some(words),
        default_output_modes=some(words),
        skills=some(skill),
        signatures=some(json_objects),
    )
