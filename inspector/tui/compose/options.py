"""The options of a message: a description of each, and the form that sets it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from textual.screen import Screen

from inspector.capture.private_files import reason
from inspector.capture.records import Kind
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.jsonvalue import parse_strictly, type_name
from inspector.protocol.lifecycle import short
from inspector.protocol.model import Unreadable
from inspector.session.compose.checks import output_modes
from inspector.session.compose.draft import Draft
from inspector.session.compose.history import masked_draft
from inspector.session.compose.snippets import SUFFIX, save
from inspector.session.replay.translate import sent_message
from inspector.session.session import Session
from inspector.text.short_id import short_id
from inspector.text.typed_path import typed_path
from inspector.tui.compose.outline import LABELS
from inspector.tui.notify import notify, notify_faults
from inspector.tui.render.drafts import excerpt
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.form import CHOICE, Choice, Field, FormScreen, PickScreen
from inspector.tui.task_calls import switch_push

_NEW, _OTHER = "", "\0other"
_MOST_TASKS = 12
_MOST_REQUESTS = 200
"""The number of the last requests that are searched for messages."""
_VALUE = "value"
_MASKED = "Its secrets were replaced by ****. Write a variable instead, such as {{API_TOKEN}}."

_DESCRIPTIONS = {
    "add": "A message has one or more parts, in this order.",
    "task": "The task that the message continues. A task that has ended accepts no more messages.",
    "context": "The context groups related tasks and messages.",
    "references": "Other tasks that the message refers to (referenceTaskIds).",
    "extensions": "Extensions that the message uses. They are sent in the message and in the header.",
    "metadata": "The metadata of the message, a JSON object.",
    "id": "The id of the message. To send the same message again as a retry, keep its id.",
    "stream": "On: the agent streams every update (SendStreamingMessage). Off: it sends one response (SendMessage).",
    "blocking": "Whether the agent responds before the task has ended or requires input (returnImmediately, blocking).",
    "modes": "The media types that you accept in the response (acceptedOutputModes).",
    "history": "The number of history messages in the response (historyLength).",
    "push": "The webhook of a2a-inspect that is registered with the message (taskPushNotificationConfig).",
    "tenant": "The tenant of the request, if it is not the tenant of the interface.",
    "request_metadata": "The metadata of the request, a JSON object.",
    "params": "Service parameters: HTTP headers, or the metadata of a gRPC call.",
}


class SettingForms:
    """Opens the form of an option of a draft over a screen.

    `change` is called with the changed draft and the name of the change.
    """

    def __init__(
        self, screen: Screen[Any], session: Session, draft: Callable[[], Draft], change: Callable[[Draft, str], None]
    ) -> None:
        self._screen = screen
        self._session = session
        self._draft = draft
        self._change = change

    def description(self, key: str) -> str:
        """Return a sentence about an option."""
        return _DESCRIPTIONS.get(key, "")

    def open(self, key: str) -> None:
        """Open the form of an option, or change it at once if it has two values."""
        draft, connection = self._draft(), self._session.connection
        offered = (extension.uri for extension in connection.card.capabilities.extensions or ()) if connection else ()
        tasks = [task.id for task in self._session.tasks.all()][:_MOST_TASKS]
        modes = output_modes(connection.card) if connection else []
        actions: dict[str, Callable[[], object]] = {
            "task": self._ask_task,
            "context": self._ask_context,
            "id": self._ask_message_id,
            "blocking": lambda: self._take("blocking", blocking=not draft.blocking),
            "push": lambda: self._screen.run_worker(self._toggle_push(), group="push", exclusive=True),
            "extensions": lambda: self._ask_list("extensions", "extensions", [*offered]),
            "modes": lambda: self._ask_list("modes", "accepted_output_modes", modes),
            "references": lambda: self._ask_list("references", "references", tasks),
        }
        texts = {
            "metadata": draft.metadata,
            "request_metadata": draft.request_metadata,
            "history": "" if draft.history_length is None else str(draft.history_length),
            "tenant": draft.tenant,
            "params": "; ".join(f"{name}: {value}" for name, value in draft.svc_params),
        }
        if key in actions:
            actions[key]()
        elif key in texts:
            self._ask_text(key, texts[key])

    # Task, context and message id

    def _ask_task(self) -> None:
        tasks = self._session.tasks.all()[:_MOST_TASKS]
        choices = [Choice(_NEW, "none: starts a new task")]
        choices += [
            Choice(task.id, f"{short_id(task.id)}  {short(task.now.state):<15} {_last_message(task.now)}")
            for task in tasks
        ]
        self._ask_id("task", "the id of a task", choices, self._draft().task_id, self._set_task)

    def _set_task(self, task_id: str) -> None:
        task = self._session.tasks.get(task_id)
        context = task.now.context_id if task else "" if task_id else self._draft().context_id
        self._take("task", task_id=task_id, context_id=context)

    def _ask_context(self) -> None:
        known = dict.fromkeys(task.now.context_id for task in self._session.tasks.all() if task.now.context_id)
        choices = [Choice(_NEW, "none: a new context, or that of the task")]
        choices += [Choice(context, context) for context in [*known][:_MOST_TASKS]]
        chosen = self._draft().context_id
        self._ask_id(
            "context", "the id of a context", choices, chosen, lambda value: self._take("context", context_id=value)
        )

    def _ask_message_id(self) -> None:
        """Ask for the message id: the present id, a new id, or (for a retry) the id of a sent message."""
        requests = self._session.journal.capture.select(kinds=(Kind.REQUEST,))[-_MOST_REQUESTS:]
        found = ((sent_message(record), record) for record in reversed(requests))
        messages = [(sent.message.message_id, record.label) for sent, record in found if sent]
        choices = [
            Choice(self._draft().message_id, f"{self._draft().message_id}   unchanged"),
            Choice(_NEW, "a new id"),
        ]
        choices += [
            Choice(name, f"{name}   retry of {excerpt(label)}")
            for name, label in dict(messages[:_MOST_TASKS]).items()
            if name and name != self._draft().message_id
        ]
        made = self._draft().with_new_ids().message_id
        chosen = self._draft().message_id
        self._ask_id("id", "any text", choices, chosen, lambda value: self._take("id", message_id=value or made))

    def _ask_id(self, key: str, hint: str, choices: Sequence[Choice], chosen: str, done: Callable[[str], None]) -> None:
        other = Choice(_OTHER, "another id", (_VALUE,))
        known = any(choice.value == chosen for choice in choices)
        field = Field(_VALUE, "id", hint, "" if known else chosen)

        form = FormScreen(
            _title(key),
            [field],
            [*choices, other],
            chosen=chosen if known else _OTHER,
            description=_DESCRIPTIONS[key],
        )
        ask(self._screen, form, lambda values: done(values[_VALUE if values[CHOICE] == _OTHER else CHOICE]))

    # Lists, texts and switches

    def _ask_list(self, key: str, member: str, offered: Sequence[str]) -> None:
        chosen = getattr(self._draft(), member)
        pick = PickScreen(_title(key), offered, chosen, description=_DESCRIPTIONS[key])
        ask(self._screen, pick, lambda values: self._take(key, **{member: values}))

    def _ask_text(self, key: str, value: str) -> None:
        hint, problem = _TEXTS[key]

        def check(values: Mapping[str, str]) -> str:
            return problem(values[_VALUE]) if values[_VALUE] else ""

        field = Field(_VALUE, LABELS[key], hint, value)
        form = FormScreen(_title(key), [field], check=check, description=_DESCRIPTIONS[key])
        ask(self._screen, form, lambda values: self._set_text(key, values[_VALUE]))

    def _set_text(self, key: str, text: str) -> None:
        match key:
            case "history":
                self._take(key, history_length=int(text) if text else None)
            case "params":
                self._take(key, svc_params=tuple(map(_pair, _pairs(text))))
            case _:
                self._take(key, **{key: text})

    def _take(self, key: str, **members: object) -> None:
        self._change(replace(self._draft(), **members), f"change {LABELS[key]}")  # type: ignore[arg-type]

    async def _toggle_push(self) -> None:
        with notify_faults(self._screen):
            await switch_push(self._session)
        self._change(self._draft(), "")

    # Snippets

    def save_snippet(self, value: str = f"message{SUFFIX}", replacing: str = "") -> None:
        """Ask for a path and save the message there; ask again before a file is replaced."""
        field = Field(_VALUE, "file", f"name{SUFFIX}", value)
        title = f"{replacing} exists; press enter again to replace it" if replacing else "Save as snippet"
        ask(self._screen, FormScreen(title, [field]), lambda values: self._save_snippet(values[_VALUE], replacing))

    def _save_snippet(self, typed: str, replacing: str) -> None:
        name = typed if typed.endswith(SUFFIX) else f"{typed}{SUFFIX}"
        try:
            path = typed_path(name)
            draft = replace(self._draft(), task_id="", context_id="")
            hidden = masked_draft(self._session.journal.redactor, draft)
            save(path, path.name.removesuffix(SUFFIX), hidden, replacing=name == replacing)
        except FileExistsError:
            self.save_snippet(name, name)
        except (OSError, ValueError) as error:
            notify(self._screen, f"Not saved: {reason(error)}.", "error")
        else:
            notify(self._screen, f"Saved {path}. To send it: a2a-inspect send --snippet {path}")
            if hidden != draft:
                notify(self._screen, _MASKED, "warning")


def _title(key: str) -> str:
    return LABELS[key].capitalize()


def _last_message(account: AssembledTask) -> str:
    message = account.status.message
    return excerpt(" ".join(part.text or "" for part in message.parts)) if message else ""


def _object_problem(text: str) -> str:
    value = parse_strictly(text.encode("utf-8", "surrogatepass"))
    if isinstance(value, Unreadable):
        return f"{value.why}."
    return "" if isinstance(value, dict) else f"Enter a JSON object; this is {type_name(value)}."


def _number_problem(text: str) -> str:
    return "" if text.isascii() and text.isdigit() and len(text) < 10 else "Enter a number or leave the field empty."


def _pairs(text: str) -> list[str]:
    """Return the pairs of a text; a semicolon that no name follows is a part of the value before it."""
    return [pair for pair in _BETWEEN_PAIRS.split(text) if pair.strip()]


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition(":")
    return name.strip(), value.strip()


def _params_problem(text: str) -> str:
    for pair in _pairs(text):
        name, value = _pair(pair)
        if not name or ":" not in pair or not all(sign.isalnum() or sign in "-_" for sign in name):
            return f"{pair.strip()!r} does not have the form Name: value."
        if not value.isascii() or not value.isprintable():
            return f"The value of {name} has characters that a header cannot contain."
    return ""


_BETWEEN_PAIRS = re.compile(r";(?=\s*+(?:[\w-]++\s*+:|;|$))", re.ASCII)
"""A semicolon that is followed by a name with its colon, by another semicolon or by the end."""
_TEXTS: dict[str, tuple[str, Callable[[str], str]]] = {
    "metadata": ('{"name": "value"}', _object_problem),
    "request_metadata": ('{"name": "value"}', _object_problem),
    "history": ("a number; empty: agent default", _number_problem),
    "tenant": ("empty: the tenant of the interface", lambda _: ""),
    "params": ("Name: value; Name: value", _params_problem),
}
"""The options that are written as text: a hint, and the function that returns what is wrong with the text."""
