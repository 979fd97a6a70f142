"""A form made from a JSON schema of an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from textual.message_pump import MessagePump

from inspector.protocol.jsonvalue import dump
from inspector.protocol.schema import FieldError, SchemaField, fields_of, filled_in, find_schema, schema_of_skill
from inspector.session.session import Session
from inspector.tui.notify import notify
from inspector.tui.render.json_nodes import laid_out
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.form import CHOICE, Choice, Field, FormScreen


class Form(NamedTuple):
    """A schema and a text that describes its origin."""

    title: str
    schema: Mapping[str, Any]


def forms_of(session: Session, task_id: str) -> list[Form]:
    """Return the schemas that can be filled in: that of the task's question, and those of the skills."""
    task = session.tasks.get(task_id) if task_id else None
    asked = find_schema(task.now.status.message) if task is not None else None
    found = [Form("the agent's question", asked)] if asked else []
    connection = session.connection
    for skill in connection.card.skills if connection else ():
        schema = schema_of_skill(skill.model_extra)
        if schema is not None:
            found.append(Form(f"the skill {skill.name or skill.id}", schema))
    return found


Unfinished: TypeAlias = dict[bytes, Mapping[str, str]]
"""The input of forms that were closed before it was confirmed, by the schema; it is shown when a form is reopened."""


def open_form(node: MessagePump, found: Sequence[Form], unfinished: Unfinished, done: Callable[[str], None]) -> None:
    """Open the form of a schema, and ask which if there are several; `done` is called with the values as JSON."""
    if not found:
        notify(node, "The agent provides no form: neither its question nor its skills contain a JSON Schema.")
        return
    if len(found) == 1:
        _open(node, found[0], unfinished, done)
        return
    choices = [Choice(str(index), form.title) for index, form in enumerate(found)]
    form = FormScreen("Choose a form", choices=choices)
    ask(node, form, lambda values: _open(node, found[int(values[CHOICE])], unfinished, done))


def _open(node: MessagePump, form: Form, unfinished: Unfinished, done: Callable[[str], None]) -> None:
    wanted, schema = fields_of(form.schema), dump(form.schema)
    typed = unfinished.pop(schema, {})

    def keep(values: Mapping[str, str]) -> None:
        unfinished[schema] = values

    def by_path(values: Mapping[str, str]) -> dict[tuple[str, ...], str]:
        return {field.path: values.get(f"f{index}", "") for index, field in enumerate(wanted)}

    def check(values: Mapping[str, str]) -> str:
        try:
            filled_in(wanted, by_path(values))
        except FieldError as error:
            return str(error)
        return ""

    def take(values: Mapping[str, str]) -> None:
        done(laid_out(dump(filled_in(wanted, by_path(values)))).removesuffix("\n"))

    fields = [
        Field(
            f"f{index}",
            field.label + (" *" if field.needs_text else ""),
            _hint(field),
            typed.get(f"f{index}", field.value),
        )
        for index, field in enumerate(wanted)
    ]
    ask(node, FormScreen(f"Form: {form.title}", fields, check=check, on_close=keep), take)


def _hint(field: SchemaField) -> str:
    if field.options:
        return " | ".join(field.options)
    return field.hint or {"boolean": "true or false", "json": "JSON", "string": ""}.get(field.kind, f"{field.kind}")
