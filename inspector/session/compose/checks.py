"""Check a message against the card and the protocol; a message with warnings can still be sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from inspector.findings.url import host_of
from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentCard
from inspector.protocol.http_fields import without_parameters
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.model import Part, SendRequest
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice
from inspector.session.connection import unavailable_reason
from inspector.session.tasks import TaskFold

_Pairs: TypeAlias = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class MessageWarning:
    """A reason not to send a message; `where` is `parts/0`, `task`, `extensions` or similar."""

    where: str
    words: str


def check_message(
    request: SendRequest, *, stream: bool, choice: Choice, card: AgentCard, tasks: TaskFold
) -> tuple[MessageWarning, ...]:
    """Return warnings about what the card does not accept, the protocol forbids, or the version cannot represent."""
    checks = (
        _check_parts(request, card),
        _check_task(request, tasks),
        _check_extensions(request, card),
        _check_response(request, card, choice, stream=stream),
    )
    warnings = [MessageWarning(where, words) for check in checks for where, words in check]
    for pointer in choice.dialect.unsupported_members(request):
        words = f"A2A {choice.dialect.version} cannot represent {pointer}; it is left out."
        warnings.append(MessageWarning("protocolVersion", words))
    return tuple(warnings)


def _check_parts(request: SendRequest, card: AgentCard) -> _Pairs:
    modes = input_modes(card)
    for index, part in enumerate(request.message.parts):
        where = f"parts/{index}"
        if part.content in ("text", "raw", "url") and not getattr(part, part.content):
            yield where, "This part is empty; the agent may refuse it."
        if part.url and not ("://" in part.url and host_of(part.url)):
            yield where, "This is not an absolute URL with a host; the agent cannot fetch it."
        media_type = _type_of(part)
        if modes and media_type and not any(_accepts(mode, media_type) for mode in modes):
            yield where, f"The card does not list {media_type} among its input modes: {', '.join(modes)}."


def input_modes(card: AgentCard) -> list[str]:
    """Return the input modes of the card and of every skill."""
    of_skills = [mode for skill in card.skills for mode in skill.input_modes or ()]
    return list(dict.fromkeys([*card.default_input_modes, *of_skills]))


def output_modes(card: AgentCard) -> list[str]:
    """Return the output modes of the card and of every skill."""
    of_skills = [mode for skill in card.skills for mode in skill.output_modes or ()]
    return list(dict.fromkeys([*card.default_output_modes, *of_skills]))


def _type_of(part: Part) -> str:
    written = without_parameters(part.media_type or "")
    return written or {"text": "text/plain", "data": "application/json"}.get(part.content, "")


def _accepts(mode: str, media_type: str) -> bool:
    """Return whether a mode accepts a media type; old cards use `text` and `file` instead of media types."""
    mode, main_type = without_parameters(mode), media_type.partition("/")[0]
    if "/" not in mode:
        return mode in ("*", "file", main_type) or (mode == "data" and "json" in media_type)
    kind, _, subtype = mode.partition("/")
    return mode == media_type or (subtype == "*" and kind in ("*", main_type))


def _overlap(mode: str, other: str) -> bool:
    """Return whether two modes have a media type in common; either may have parameters or a wildcard, or be a word."""
    return _accepts(mode, without_parameters(other)) or _accepts(other, without_parameters(mode))


def _check_task(request: SendRequest, tasks: TaskFold) -> _Pairs:
    message = request.message
    task = tasks.get(message.task_id or "")
    if task is not None and is_terminal(task.now.state):
        yield "task", f"The task is {short(task.now.state)} and accepts no more messages (section 3.1.1)."
    known = task.now.context_id if task else ""
    if known and message.context_id and message.context_id != known:
        yield (
            "context",
            f"The task belongs to the context {known}; the agent must reject another context (section 3.4.3).",
        )
    for reference in message.reference_task_ids or ():
        if reference == message.task_id:
            yield "references", "The message lists its own task as a reference."


def _check_extensions(request: SendRequest, card: AgentCard) -> _Pairs:
    offered = card.capabilities.extensions or []
    named = request.message.extensions or []
    for extension in offered:
        if extension.required and extension.uri not in named:
            yield "extensions", f"The card requires the extension {extension.uri} (section 3.3.4)."
    known = {extension.uri for extension in offered}
    for uri in named:
        if uri not in known:
            yield "extensions", f"The card does not declare the extension {uri}."


def _check_response(request: SendRequest, card: AgentCard, choice: Choice, *, stream: bool) -> _Pairs:
    if stream and (why := unavailable_reason(Operation.STREAM, choice, card)):
        yield "stream", f"{why[:1].upper()}{why[1:]}."
    configuration = request.configuration
    has_webhook = configuration is not None and configuration.task_push_notification_config is not None
    if has_webhook and card.capabilities.push_notifications is False:
        yield "push", "The card declares pushNotifications: false."
    modes = output_modes(card)
    asked = (configuration.accepted_output_modes if configuration else None) or []
    if modes and asked and not any(_overlap(mode, offered) for mode in asked for offered in modes):
        yield "modes", f"The card does not list any of these output modes; it lists {', '.join(sorted(modes))}."
