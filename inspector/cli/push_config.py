"""`task push-config`: the push notification configurations of a task (A2A 1.0 sections 3.1.7 to 3.1.10)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from inspector.capture.redaction import MASK
from inspector.cli.arguments import Invocation
from inspector.cli.errors import usage
from inspector.cli.output import Output
from inspector.cli.run_command import command, run
from inspector.cli.running_command import RunningCommand
from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import FaultError, Whose
from inspector.protocol.model import AuthenticationInfo, Deleted, PushConfig, PushConfigList
from inspector.protocol.operations import Operation
from inspector.session.call import Call
from inspector.session.push_body import push_body_hint
from inspector.session.session import Session

_Expected = TypeVar("_Expected", bound=Answer)


def set_config(invocation: Invocation, out: Output) -> int:
    """Create a configuration: the URL to which the updates of a task are pushed."""
    given = invocation.given
    if not given.url:
        raise usage("No webhook URL was given.", "Add --url URL, where the agent sends the push notifications.")
    members: dict[str, Any] = {"task_id": given.id, "url": given.url, "id": given.config_id, "token": given.token}
    if given.auth:
        members["authentication"] = AuthenticationInfo(scheme=given.auth[0], credentials=given.auth[1])
    config = PushConfig(**{name: value for name, value in members.items() if value})

    async def work(current: RunningCommand) -> None:
        whole = given.body == "request"

        def prepare(session: Session) -> Call:
            if whole and not session.has_push_body:
                raise usage("--body request is only for A2A 0.3 over HTTP+JSON.", "Leave out --body.")
            return session.set_push(config, whole_body=whole)

        try:
            answer = await _ask(current, Operation.SET_PUSH, PushConfig, prepare)
        except FaultError as error:
            if error.fault.whose is not Whose.AGENT or not current.session.has_push_body:
                raise
            hint = f"{push_body_hint(whole=whole)} Try --body {'config' if whole else 'request'}."
            raise FaultError(replace(error.fault, hint=hint)) from error
        _show(current.out, answer, given.id)

    return run(invocation, out, work)


@command
async def get_config(current: RunningCommand) -> None:
    """Print a configuration of a task; `--id` is optional in protocol versions with one configuration per task."""
    task_id, config_id = current.invocation.given.id, current.invocation.given.config_id

    def prepare(session: Session) -> Call:
        sole = session.choice.dialect.traits.sole_push_config
        return session.get_push(task_id, config_id or "" if sole else _config_id(current.invocation))

    _show(current.out, await _ask(current, Operation.GET_PUSH, PushConfig, prepare), task_id)


@command
async def list_configs(current: RunningCommand) -> None:
    """Print every configuration of a task."""
    task_id, out = current.invocation.given.id, current.out
    answer = await _ask(current, Operation.LIST_PUSH, PushConfigList, lambda session: session.list_push(task_id))
    if out.json:
        out.document(answer.to_json())
        return
    for config in answer.configs:
        _show(out, config, task_id)
    out.field("Push configs", f"{len(answer.configs):,}")
    if answer.next_page_token:
        out.field("Next page token", answer.next_page_token)


def delete_config(invocation: Invocation, out: Output) -> int:
    """Delete one configuration of a task."""
    task_id, config_id = invocation.given.id, _config_id(invocation)

    async def work(current: RunningCommand) -> None:
        answer = await _ask(
            current, Operation.DELETE_PUSH, Deleted, lambda session: session.delete_push(task_id, config_id)
        )
        if out.json:
            out.document(answer.to_json())
        else:
            out.field("Deleted", config_id)
            out.field("Task", task_id)

    return run(invocation, out, work)


def _config_id(invocation: Invocation) -> str:
    config_id: str | None = invocation.given.config_id
    if not config_id:
        raise usage("No configuration was given.", "Add --id ID; task push-config list prints the ids.")
    return config_id


async def _ask(
    current: RunningCommand, operation: Operation, expected: type[_Expected], prepare: Callable[[Session], Call]
) -> _Expected:
    await current.connect_for(operation)
    return await current.ask(prepare(current.session), expected)


def _show(out: Output, config: PushConfig, task_id: str) -> None:
    """Print a configuration: as JSON unchanged, as text without its secrets."""
    if out.json:
        out.document(config.to_json())
        return
    out.field("Push config", config.id or "no id")
    out.field("Task", config.task_id or task_id)
    out.field("URL", out.redact(config.url))
    if config.token:
        out.field("Token", MASK)
    if config.authentication is not None:
        secret = f" {MASK}" if config.authentication.credentials else ""
        out.field("Authentication", f"{config.authentication.scheme}{secret}")
