"""A message that is being written, as a value: what will be sent, before it has a dialect or a binding."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from inspector.protocol.model import Message, Part, PushConfig, SendConfiguration, SendRequest


@dataclass(frozen=True, slots=True)
class Draft:
    """The parts of a message in order, where it is aimed, and how it is to be answered.

    `task_id` continues a task, `context_id` alone starts a new task in a context; `blocking` waits for the task to end
    or to ask for something; `message_id` is made where it is empty.
    """

    parts: tuple[Part, ...]
    task_id: str = ""
    context_id: str = ""
    blocking: bool = True
    history_length: int | None = None
    accepted_output_modes: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None
    message_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def problems(self) -> tuple[str, ...]:
        """Say in words what keeps the draft from being a message."""
        if not self.parts:
            return ("a message has at least one part",)
        return ()

    def request(self, *, tenant: str | None = None, push: PushConfig | None = None) -> SendRequest:
        """Make the canonical request; members that say nothing are left out of it."""
        message = _given(
            message_id=self.message_id,
            context_id=self.context_id,
            task_id=self.task_id,
            role="ROLE_USER",
            parts=list(self.parts),
        )
        configuration = _given(
            accepted_output_modes=list(self.accepted_output_modes),
            task_push_notification_config=push,
        )
        if self.history_length is not None:
            configuration["history_length"] = self.history_length
        configuration["return_immediately"] = not self.blocking
        return SendRequest(
            **_given(tenant=tenant, metadata=self.metadata),
            message=Message(**message),
            configuration=SendConfiguration(**configuration),
        )


def text_draft(text: str, **aim: Any) -> Draft:
    """Make the draft of a message with one text part."""
    return Draft(parts=(Part(text=text),), **aim)


def _given(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value}
