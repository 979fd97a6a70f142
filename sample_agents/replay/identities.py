"""The ids that a client has chosen in place of those in the recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from inspector.capture.secret_locations import MASK
from inspector.protocol.model import PushConfig

from .call_content import CallContent
from .differences import Difference
from .exchange import Assignments, Exchange

MEMBERS: Mapping[str, tuple[str, ...]] = {
    "message": ("messageId", "message_id"),
    "task": ("id", "taskId", "task_id"),
    "context": ("contextId", "context_id", "sessionId"),
    "config": ("id", "configId", "pushNotificationConfigId", "push_notification_config_id"),
}
"""The members of responses in which an id occurs, by the name of the id."""

Replacements = dict[str, dict[str, str]]
"""New texts for recorded texts, by the name of the member that contains them."""


class Identities:
    """Translates ids of the client to ids of the recording, and back.

    `recorded` has the pairs of name and value of all ids in the recording.
    """

    def __init__(self, recorded: Iterable[tuple[str, str]]) -> None:
        self._recorded = frozenset(recorded)
        self._to_recorded: dict[tuple[str, str], str] = {}
        self._to_client: dict[tuple[str, str], str] = {}

    def translate(self, call: CallContent) -> CallContent:
        """Return a call with the ids of the recording."""
        return replace(
            call,
            task=self._translated("task", call.task),
            context=self._translated("context", call.context),
            config=self._translated("config", call.config),
            references=tuple(self._translated("task", task) for task in call.references),
        )

    def _translated(self, name: str, sent: str) -> str:
        return self._to_recorded.get((name, sent), sent)

    def client_id(self, name: str, recorded: str) -> str:
        """Return the id that the client uses for an id of the recording."""
        return self._to_client.get((name, recorded), recorded)

    def compare(self, exchange: Exchange, call: CallContent) -> tuple[list[Difference], Assignments]:
        """Compare the ids of a translated call with those of an exchange; return also the ids that the client chose."""
        recorded, found = exchange.call, []
        chosen: dict[str, tuple[str, str]] = {}
        for name in ("task", "context", "config"):
            ours, sent = getattr(recorded, name), getattr(call, name)
            if sent == ours or (name == "context" and self._fits_task(exchange, call)):
                continue
            free = name in exchange.chosen or (name == "context" and call.sends_message and not ours)
            if free and (not sent or (name, sent) not in self._recorded):
                target = ours or (exchange.context if name == "context" else "")
                if sent and target:
                    chosen[name] = target, sent
                continue
            if name == "config" and recorded.sends_message:
                continue  # the webhook in a message is not compared
            found.append(Difference(f"{name} id", ours, sent))
        if call.references != recorded.references:
            found.append(Difference("reference task ids", list(recorded.references), list(call.references)))
        return found, chosen

    @staticmethod
    def _fits_task(exchange: Exchange, call: CallContent) -> bool:
        """Return whether the context of a follow-up message is that of its task; it may be missing."""
        return bool(call.task) and call.task == exchange.call.task and call.context in ("", exchange.context)

    def assign(self, exchange: Exchange, call: CallContent, chosen: Assignments) -> None:
        """Use the ids of the client from now on."""
        for name, (recorded, sent) in chosen.items():
            self._assign(name, recorded, sent)
        if call.message_id and exchange.call.message_id:
            self._assign("message", exchange.call.message_id, call.message_id)

    def _assign(self, name: str, recorded: str, sent: str) -> None:
        self._to_client[name, recorded] = sent
        if name != "message":
            self._to_recorded[name, sent] = recorded

    def replacements(self) -> Replacements:
        """Return the texts of the recording that the client has other texts for."""
        found: Replacements = {}
        for (name, recorded), sent in self._to_client.items():
            if recorded != sent:
                for member in MEMBERS[name]:
                    found.setdefault(member, {})[recorded] = sent
        return found


def with_webhook(replacements: Replacements, recorded: PushConfig, sent: PushConfig) -> Replacements:
    """Add the texts of a push configuration; secrets of the recording are masked."""
    added: dict[str, tuple[str | None, str | None]] = {
        "url": (recorded.url, sent.url),
        "token": (recorded.token and MASK, sent.token),
        "credentials": (MASK, sent.authentication.credentials if sent.authentication else None),
    }
    merged = {name: dict(texts) for name, texts in replacements.items()}
    for member, (old, new) in added.items():
        if old and new and old != new:
            merged.setdefault(member, {})[old] = new
    return merged
