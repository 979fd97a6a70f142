"""The names of the OpenTelemetry draft for A2A, at the commit that this program follows."""

from __future__ import annotations

from typing import Final

REPOSITORY: Final = "https://github.com/open-telemetry/semantic-conventions-genai"
COMMIT: Final = "6718089fe6e0530fdf498d845f0532e9cf172c81"
"""The commit of the draft (docs/gen-ai/a2a.md); the names may change in later versions of it."""

METHOD: Final = "a2a.method.name"
MESSAGE_ID: Final = "a2a.message.id"
REFERENCES: Final = "a2a.message.reference_task_ids"
PROTOCOL_VERSION: Final = "a2a.protocol.version"
TASK_ID: Final = "a2a.task.id"
TASK_STATE: Final = "a2a.task.state"
TENANT: Final = "a2a.tenant"
ERROR_TYPE: Final = "error.type"
AGENT_NAME: Final = "gen_ai.agent.name"
AGENT_DESCRIPTION: Final = "gen_ai.agent.description"
AGENT_VERSION: Final = "gen_ai.agent.version"
CONVERSATION: Final = "gen_ai.conversation.id"
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"

# These are not in the draft.
FRAME_EVENT: Final = "a2a_inspect.frame"
FINDING_EVENT: Final = "a2a_inspect.finding"
PAYLOAD: Final = "a2a_inspect.payload"
"""The type of the payload of a frame: `task`, `status`, `artifact`, `message` or `error`."""
RECORD: Final = "a2a_inspect.record"
"""The number of the record in the capture."""
SIZE: Final = "a2a_inspect.size"
RULE: Final = "a2a_inspect.rule"
SEVERITY: Final = "a2a_inspect.severity"
