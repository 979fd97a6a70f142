"""Every operation, over real sockets, in every version and binding."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.engine import MAX_WEBHOOKS
from inspector.sample_agents.server import MockAgent
from mock_peer import Peer, eventually, immediately, peer_for, say, state_of, text_of

from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import (
    Deleted,
    ListTasksRequest,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    SendConfiguration,
    Task,
    TaskList,
    TaskRequest,
)
from inspector.protocol.operations import Operation

HOOK = "http://127.0.0.1:9/hook"


def code(answer: Any) -> int | None:
    assert isinstance(answer, ProtocolError), answer
    return answer.code


async def test_a_send_waits_for_the_task_by_default(slow_peer: Peer) -> None:
    hurried = await slow_peer.send("long 3600", configuration=immediately())
    assert isinstance(hurried, Task)
    assert state_of(hurried) == "submitted"
    patient = await slow_peer.send("fail")
    assert state_of(patient) == "failed"
    explicit = await slow_peer.send("fail", configuration=SendConfiguration(return_immediately=False))
    assert state_of(explicit) == "failed"


@pytest.mark.usefixtures("pauses")
async def test_a_running_task_can_be_fetched(slow_peer: Peer) -> None:
    started = await slow_peer.send("long 3600", configuration=immediately())
    task: Any = None
    while task is None or state_of(task) == "submitted":
        task = await slow_peer.task(started.id)
    assert state_of(task) == "working"
    assert "0 of 3600" in text_of(task.status.message.parts)


async def test_history_length_keeps_the_last_messages(peer: Peer) -> None:
    done = await peer.send("push")
    whole = (await peer.task(done.id)).history
    assert len(whole) == 5
    assert (await peer.task(done.id, history_length=2)).history == whole[-2:]
    assert (await peer.task(done.id, history_length=99)).history == whole
    if peer.binding.name != "GRPC" or peer.dialect.version == "1.0":  # the protobuf of 0.3 cannot send 0
        assert (await peer.task(done.id, history_length=0)).history is None
    sent = await peer.send("push", configuration=SendConfiguration(history_length=1))
    assert [text_of(message.parts) for message in sent.history] == ["Writing the summary."]
    event_rewriter = await peer.events("push", configuration=SendConfiguration(history_length=1))
    assert len(event_rewriter[0].history) == 1


async def test_an_unknown_task_is_not_found_by_any_operation(peer: Peer) -> None:
    for operation in (Operation.GET, Operation.CANCEL):
        assert code(await peer.call(operation, TaskRequest(id="nope"))) == -32001
    assert code(await peer.send("hi", task_id="nope")) == -32001
    assert [code(item) async for item in peer.stream(Operation.SUBSCRIBE, TaskRequest(id="nope"))] == [-32001]
    assert [code(item) for item in await peer.events("hi", task_id="nope")] == [-32001]
    assert code(await peer.call(Operation.SET_PUSH, PushConfig(task_id="nope", url=HOOK))) == -32001
    assert code(await peer.call(Operation.LIST_PUSH, PushConfigRequest(task_id="nope"))) == -32001
    for operation in (Operation.GET_PUSH, Operation.DELETE_PUSH):
        assert code(await peer.call(operation, PushConfigRequest(task_id="nope", id="c"))) == -32001


async def test_an_ended_task_rejects_messages_cancel_and_subscribe(peer: Peer) -> None:
    done = await peer.send("fail")
    assert code(await peer.send("more", task_id=done.id)) == -32004
    assert [code(item) for item in await peer.events("more", task_id=done.id)] == [-32004]
    assert code(await peer.call(Operation.CANCEL, TaskRequest(id=done.id))) == -32002
    assert [code(item) async for item in peer.stream(Operation.SUBSCRIBE, TaskRequest(id=done.id))] == [-32004]
    assert await peer.task(done.id) == done


async def test_a_task_belongs_to_its_context(peer: Peer) -> None:
    asked = await peer.send("ask")
    assert code(await peer.send("18:00", task_id=asked.id, context_id="another")) == -32602
    assert state_of(await peer.task(asked.id)) == "input_required"


async def test_an_interrupted_task_can_be_canceled(peer: Peer) -> None:
    asked = await peer.send("ask")
    canceled = await peer.call(Operation.CANCEL, TaskRequest(id=asked.id))
    assert isinstance(canceled, Task)
    assert state_of(canceled) == "canceled"
    assert code(await peer.send("18:00", task_id=asked.id)) == -32004


async def test_a_message_to_a_running_task_is_added_to_its_history(slow_peer: Peer, slow_agent: MockAgent) -> None:
    started = await slow_peer.send("long 3600", configuration=immediately())
    joined = await slow_peer.send("hurry", task_id=started.id, configuration=immediately())
    assert [text_of(message.parts) for message in joined.history if message.role == "ROLE_USER"] == [
        "long 3600",
        "hurry",
    ]
    assert slow_agent.running == 1


async def test_push_configurations_are_created_fetched_listed_and_deleted(peer: Peer) -> None:
    asked = await peer.send("ask")
    unnamed = await peer.call(Operation.SET_PUSH, PushConfig(task_id=asked.id, url=HOOK))
    assert isinstance(unnamed, PushConfig)
    assert (unnamed.task_id, unnamed.url) == (asked.id, HOOK)
    assert unnamed.id
    wanted = PushConfig.model_validate(
        {
            "taskId": asked.id,
            "id": "two",
            "url": HOOK + "2",
            "token": "t",
            "authentication": {"scheme": "Bearer", "credentials": "c"},
        }
    )
    assert await peer.call(Operation.SET_PUSH, wanted) == wanted
    assert await peer.call(Operation.GET_PUSH, PushConfigRequest(task_id=asked.id, id="two")) == wanted
    listed = await peer.call(Operation.LIST_PUSH, PushConfigRequest(task_id=asked.id))
    assert isinstance(listed, PushConfigList)
    assert listed.configs == [unnamed, wanted]
    for _ in range(2):
        deleted = await peer.call(Operation.DELETE_PUSH, PushConfigRequest(task_id=asked.id, id="two"))
        assert isinstance(deleted, Deleted)
    assert code(await peer.call(Operation.GET_PUSH, PushConfigRequest(task_id=asked.id, id="two"))) == -32001


async def test_credentials_without_a_scheme_are_refused(peer: Peer) -> None:
    asked = await peer.send("ask")
    config = {"taskId": asked.id, "url": HOOK, "authentication": {"scheme": "", "credentials": "c"}}
    assert code(await peer.call(Operation.SET_PUSH, PushConfig.model_validate(config))) == -32602


async def test_a_push_configuration_under_the_same_id_replaces_the_first(peer: Peer) -> None:
    asked = await peer.send("ask")
    for url in (HOOK, HOOK + "2"):
        await peer.call(Operation.SET_PUSH, PushConfig(task_id=asked.id, id="c", url=url))
    listed = await peer.call(Operation.LIST_PUSH, PushConfigRequest(task_id=asked.id))
    assert isinstance(listed, PushConfigList)
    assert [config.url for config in listed.configs] == [HOOK + "2"]


@pytest.mark.parametrize(
    "members",
    [
        {"url": ""},
        {"url": "nonsense"},
        {"url": "file:///etc/passwd"},
        {"url": "http://"},
        {"url": "http://x:port/"},
        {"url": "http://x:99999/"},
        {"url": "http://x/\r\nHost: y"},
        {"url": "http://[::1"},
        {"url": HOOK, "token": "a\r\nX-Injected: 1"},
        {"url": HOOK, "token": "é"},
        {"url": HOOK, "authentication": {"scheme": "Bearer", "credentials": "a\nb"}},
        {"url": HOOK, "authentication": {"scheme": "Bea\rrer", "credentials": "a"}},
    ],
)
async def test_an_invalid_webhook_is_rejected(peer: Peer, members: dict[str, Any]) -> None:
    asked = await peer.send("ask")
    config = PushConfig.model_validate(members | {"taskId": asked.id})
    assert code(await peer.call(Operation.SET_PUSH, config)) == -32602
    inline = SendConfiguration(task_push_notification_config=config)
    assert code(await peer.send("push", configuration=inline)) == -32602


async def test_the_number_of_webhooks_is_limited(peer: Peer) -> None:
    asked = await peer.send("ask")
    for number in range(MAX_WEBHOOKS):
        await peer.call(Operation.SET_PUSH, PushConfig(task_id=asked.id, id=f"c{number}", url=HOOK))
    assert code(await peer.call(Operation.SET_PUSH, PushConfig(task_id=asked.id, id="more", url=HOOK))) == -32602


@pytest.fixture
def client(agent: MockAgent, session: aiohttp.ClientSession) -> Peer:
    """A client of 1.0, the only version with ListTasks."""
    return peer_for(session, agent, "1.0")


async def listing(client: Peer, **filters: Any) -> TaskList:
    answer = await client.call(Operation.LIST, ListTasksRequest(**filters))
    assert isinstance(answer, TaskList), answer
    return answer


async def test_an_empty_list_still_has_all_its_members(client: Peer) -> None:
    listed = await listing(client)
    assert listed.to_json() == {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}


async def test_tasks_are_listed_by_their_last_change_the_newest_first(client: Peer) -> None:
    waiting, failed = await client.send("ask"), await client.send("fail")
    assert [task.id for task in (await listing(client)).tasks] == [failed.id, waiting.id]
    await client.send("18:00", task_id=waiting.id)
    assert [task.id for task in (await listing(client)).tasks] == [waiting.id, failed.id]


async def test_tasks_are_listed_page_by_page(client: Peer) -> None:
    ids = [(await client.send("fail")).id for _ in range(5)]
    seen, token, pages = [], "", 0
    while pages == 0 or token:
        page = await listing(client, page_size=2, page_token=token)
        assert (page.page_size, page.total_size) == (2, 5)
        seen += [task.id for task in page.tasks]
        token, pages = page.next_page_token, pages + 1
    assert (seen, pages) == (ids[::-1], 3)


async def test_tasks_are_filtered_by_context_state_and_time(client: Peer) -> None:
    first = await client.send("fail", context_id="a")
    two = await client.send("ask", context_id="a")
    three = await client.send("fail", context_id="b")

    async def ids(**filters: Any) -> list[str]:
        listed = await listing(client, **filters)
        assert listed.total_size == len(listed.tasks)
        return [task.id for task in listed.tasks]

    assert await ids(context_id="a") == [two.id, first.id]
    assert await ids(status="TASK_STATE_FAILED") == [three.id, first.id]
    assert await ids(context_id="a", status="TASK_STATE_INPUT_REQUIRED") == [two.id]
    assert await ids(context_id="nowhere") == []
    assert await ids(status="TASK_STATE_UNSPECIFIED", context_id="") == [three.id, two.id, first.id]
    assert await ids(status_timestamp_after="2000-01-01T00:00:00Z") == [three.id, two.id, first.id]
    assert await ids(status_timestamp_after="2999-01-01T00:00:00") == []


async def test_a_list_has_artifacts_only_on_request(client: Peer) -> None:
    await client.send("push")
    assert (await listing(client)).tasks[0].artifacts is None
    assert len((await listing(client, include_artifacts=True)).tasks[0].artifacts or ()) == 1
    assert (await listing(client, history_length=0)).tasks[0].history is None


async def test_a_task_is_available_in_every_version(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    new, old = peer_for(session, agent, "1.0"), peer_for(session, agent, "0.3")
    asked = await old.send("ask")
    done = await new.send("18:00", task_id=asked.id)
    assert state_of(done) == "completed"
    seen = await old.task(asked.id)
    assert (seen.id, seen.context_id, seen.status, seen.history) == (
        done.id,
        done.context_id,
        done.status,
        done.history,
    )
    assert text_of(seen.artifacts[0].parts) == text_of(done.artifacts[0].parts)


async def test_a_message_is_not_deduplicated_and_nothing_is_left_running(peer: Peer, agent: MockAgent) -> None:
    request = say("push")
    for _ in range(3):
        assert isinstance(await peer.call(Operation.SEND, request), Task)
    assert len(agent.store) == 3
    await eventually(lambda: agent.running == 0)


async def test_push_configurations_are_listed_in_pages(peer: Peer) -> None:
    asked = await peer.send("ask")
    for name in ("a", "b", "c"):
        await peer.call(Operation.SET_PUSH, PushConfig(task_id=asked.id, id=name, url=HOOK))
    names: list[str | None] = []
    token: str | None = ""
    while token is not None:
        request = PushConfigRequest(task_id=asked.id, page_size=2, page_token=token)
        page = await peer.call(Operation.LIST_PUSH, request)
        assert isinstance(page, PushConfigList)
        names.append("".join(config.id or "" for config in page.configs))
        token = page.next_page_token or None
    assert names == (["abc"] if peer.dialect.traits.sole_push_config else ["ab", "c"])


async def test_the_id_of_a_push_configuration_is_required(peer: Peer) -> None:
    asked = await peer.send("ask")
    await peer.call(Operation.SET_PUSH, PushConfig(task_id=asked.id, id="a", url=HOOK))
    answer = await peer.call(Operation.GET_PUSH, PushConfigRequest(task_id=asked.id))
    if peer.dialect.traits.sole_push_config:
        assert isinstance(answer, PushConfig)
    else:
        # HTTP+JSON of 1.0 does not have such a path; 0.3 has the id in the name of the configuration.
        assert code(answer) == (
            -32001 if peer.dialect.version != "1.0" else -32601 if "HTTP" in peer.binding.name else -32602
        )
