"""Agents that respond with a wrong error or a wrong success, and what `--findings` prints about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from inspector.sample_agents.errors import CallError
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import serve_in_thread
from inspector.sample_agents.service import Call, Service
from inspector.sample_agents.task_store import Subscription, TaskRecord
from puppets import CliResult, RunCli

from inspector.protocol.bindings import grpc
from inspector.protocol.dialects.base import Result
from inspector.protocol.model import SendRequest
from inspector.protocol.operations import Operation

WAYS = [
    *[
        (version, binding)
        for version in ("1.0", "1.1", "opvs", "0.3", "0.2")
        for binding in ("JSONRPC", "HTTP+JSON", "GRPC")
    ],
    ("0.1", "JSONRPC"),
]
SINCE_1_0 = ("1.0", "1.1", "opvs")
REQUIRED = "error RESULT-011"
SUCCEEDED = "warning RESULT-013"
every_way = pytest.mark.parametrize(("version", "binding"), WAYS)
Change = Callable[[Service, Call, TaskRecord | None], Result | None]


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> Callable[[Change], None]:
    """Return a function that changes the responses of the mock.

    The given function gets each call, with its task if it has ended, and returns a result, raises an error, or returns
    None for the right response.
    """
    right, right_stream = Service.answer, Service.open

    def ended(service: Service, call: Call) -> TaskRecord | None:
        request = call.request
        name = request.message.task_id if isinstance(request, SendRequest) else getattr(request, "id", None)
        record = next((item for item in service._store if item.task_id == name), None)
        return record if record is not None and record.ended else None

    def change(to: Change) -> None:
        async def answer(service: Service, call: Call) -> Result:
            return to(service, call, ended(service, call)) or await right(service, call)

        async def stream(service: Service, call: Call) -> Subscription:
            to(service, call, ended(service, call))
            return await right_stream(service, call)

        monkeypatch.setattr(Service, "answer", answer)
        monkeypatch.setattr(Service, "open", stream)

    return change


@contextmanager
def agent(version: str) -> Iterator[str]:
    with serve_in_thread(profile=Profile(versions=(version,)), pace=0) as url:
        yield url


class User:
    """Runs commands against an agent over one version and binding."""

    def __init__(self, cli: RunCli, url: str, version: str, binding: str) -> None:
        self._cli, self._url = cli, url
        self._options = ("--a2a-version", version, "--transport", binding)

    def run(self, *words: str) -> CliResult:
        return self._cli(*words, "-a", self._url, *self._options)

    def found(self, *words: str) -> list[str]:
        """Return severity and rule of each finding, without those about clients that lose an error."""
        lines = self.run(*words, "--findings", "-o", "json").lines
        found = [line["finding"] for line in lines if "finding" in line]
        return [f"{item['severity']} {item['id']}" for item in found if item["id"] != "CLIENT-008"]

    def ended_task(self) -> str:
        return str(self.run("send", "--text", "report 1", "-o", "json").json["task"]["id"])


def operations_on(task_id: str) -> dict[Operation, tuple[str, ...]]:
    return {
        Operation.SEND: ("send", "--task-id", task_id, "--text", "again"),
        Operation.STREAM: ("send", "--task-id", task_id, "--text", "again", "--stream"),
        Operation.SUBSCRIBE: ("task", "subscribe", task_id),
        Operation.CANCEL: ("task", "cancel", task_id),
    }


def refuse_as_invalid(_: Service, call: Call, ended: TaskRecord | None) -> None:
    if ended is not None and call.operation in operations_on(""):
        raise CallError("InvalidParamsError", "The request is not valid.")


def cancel_again(service: Service, call: Call, ended: TaskRecord | None) -> Result | None:
    return service._task(ended, None, call.version) if ended and call.operation is Operation.CANCEL else None


def list_twice(service: Service, call: Call, _: TaskRecord | None) -> Result | None:
    if call.operation is not Operation.LIST:
        return None
    page = service._list(call.request, call.version)
    return page.model_copy(update={"tasks": [*page.tasks, *page.tasks[:1]]})


def refuse_version(_: Service, call: Call, __: TaskRecord | None) -> None:
    raise CallError("VersionNotSupportedError", "This version is not supported.")


def refuse_extension(_: Service, call: Call, __: TaskRecord | None) -> None:
    raise CallError("ExtensionSupportRequiredError", "An extension is required.")


@every_way
def test_a_valid_agent_has_no_findings(cli: RunCli, version: str, binding: str):
    with agent(version) as url:
        user = User(cli, url, version, binding)
        task_id = user.ended_task()
        for words in (*operations_on(task_id).values(), ("task", "get", "unknown"), ("task", "list")):
            assert user.found(*words) == [], words


@every_way
def test_an_ended_task_is_refused_with_the_required_error(
    cli: RunCli, wrong: Callable[[Change], None], version: str, binding: str
):
    wrong(refuse_as_invalid)
    with agent(version) as url:
        user = User(cli, url, version, binding)
        task_id = user.ended_task()
        for words in operations_on(task_id).values():
            assert user.found(*words) == [REQUIRED] * (version in SINCE_1_0), words


@every_way
def test_the_cancellation_of_an_ended_task_does_not_succeed(
    cli: RunCli, wrong: Callable[[Change], None], version: str, binding: str
):
    wrong(cancel_again)
    with agent(version) as url:
        user = User(cli, url, version, binding)
        task_id = user.ended_task()
        assert user.found("task", "cancel", task_id) == [SUCCEEDED] * (version in SINCE_1_0)


@pytest.mark.parametrize(
    ("version", "binding"),
    [way for way in WAYS if way[0] in SINCE_1_0 or (way[0] in ("0.2", "0.3") and way[1] == "HTTP+JSON")],
)
def test_a_task_is_listed_once(cli: RunCli, wrong: Callable[[Change], None], version: str, binding: str):
    wrong(list_twice)
    with agent(version) as url:
        user = User(cli, url, version, binding)
        user.ended_task()
        assert user.found("task", "list") == ["error RESULT-012"]


@every_way
@pytest.mark.parametrize("change", [refuse_version, refuse_extension])
def test_an_error_about_what_the_card_declares_contradicts_it(
    cli: RunCli, wrong: Callable[[Change], None], change: Change, version: str, binding: str
):
    wrong(change)
    with agent(version) as url:
        user = User(cli, url, version, binding)
        of_opvs = version == "opvs" and change is refuse_version  # the card of OPVS declares A2A 1.0
        contradicts = version in SINCE_1_0 and not of_opvs
        for words in (("send", "--text", "hi"), ("task", "get", "x")):
            assert "error RESULT-009" in user.found(*words) or not contradicts, words
            assert contradicts or "error RESULT-009" not in user.found(*words), words


@pytest.mark.parametrize("version", ["1.0", "1.1", "opvs", "0.3", "0.2"])
def test_an_error_has_its_grpc_status(cli: RunCli, monkeypatch: pytest.MonkeyPatch, version: str):
    right = grpc.encode_error
    monkeypatch.setattr(grpc, "encode_error", lambda kind, message, _: right(kind, message, "INTERNAL"))
    with agent(version) as url:
        user = User(cli, url, version, "GRPC")
        # Before 1.0, the specification has no table of statuses.
        assert user.found("task", "get", "unknown") == ["warning GRPC-001"] * (version in SINCE_1_0)


def test_without_findings_the_task_is_not_requested_first(cli: RunCli, monkeypatch: pytest.MonkeyPatch):
    calls: list[Operation] = []
    right = Service.answer

    async def answer(service: Service, call: Call) -> Result:
        calls.append(call.operation)
        return await right(service, call)

    monkeypatch.setattr(Service, "answer", answer)
    with agent("1.0") as url:
        user = User(cli, url, "1.0", "JSONRPC")
        task_id = user.ended_task()
        calls.clear()
        assert user.run("task", "cancel", task_id).code == 1
        assert calls == [Operation.CANCEL]
        assert user.run("task", "cancel", task_id, "--findings").code == 1
        assert calls == [Operation.CANCEL, Operation.GET, Operation.CANCEL]


def test_an_unknown_task_is_reported_once(cli: RunCli):
    with agent("1.0") as url:
        result = User(cli, url, "1.0", "JSONRPC").run("task", "cancel", "unknown", "--findings", "-o", "json")
        assert (result.code, result.error["code"]) == (1, "TaskNotFoundError")
