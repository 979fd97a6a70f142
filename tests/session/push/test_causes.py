"""The causes of missing deliveries, by the evidence for and against each of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from inspector.capture.records import Kind, Record
from inspector.protocol.lifecycle import State
from inspector.session.push.causes import Evidence, Likely, causes
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.wire.reach import reachable
from inspector.wire.receiver.registration import Registration

NOW = 1_800_000_000.0


def registration(**members: Any) -> WebhookRegistration:
    return WebhookRegistration(Registration(1, "/push/p", "token", "http://127.0.0.1:9/push/p", NOW), "t", **members)


_NUMBERS = count(1)


def delivery(**meta: Any) -> Record:
    usual = {"taken": True, "challenge": False, "refused": "", "dialled": "", "status": 204, "registration": 1}
    return Record(next(_NUMBERS), NOW, Kind.DELIVERY, state=meta.pop("state", ""), meta=usual | meta)


ALL_RULED_OUT = Evidence(
    agent="http://10.0.0.5:80/rpc",
    advertised="https://abc.example.org",
    declared=True,
    registrations=(registration(),),
    stored=1,
    asked="ListTaskPushNotificationConfigs",
    state=State.COMPLETED,
    ended=NOW + 5,
    now=NOW + 60,
)


@pytest.mark.parametrize(
    ("changed", "name", "likely"),
    [
        ({"registrations": ()}, "not registered", Likely.CERTAIN),
        (
            {"registrations": (registration(failed="Push to loopback addresses is refused."),)},
            "the agent refuses the address",
            Likely.CERTAIN,
        ),
        ({"agent_down": "Nothing listens at 127.0.0.1:9."}, "the agent cannot be reached", Likely.CERTAIN),
        (
            {
                "registrations": (),
                "configs": ("http://127.0.0.1:9/x",),
                "advertised": "http://127.0.0.1:9/x",
                "without_listener": ("http://127.0.0.1:9/x",),
            },
            "the agent cannot reach the receiver",
            Likely.CERTAIN,
        ),
        (
            {"registrations": (registration(failed="Internal error."),)},
            "the agent refused the registration",
            Likely.CERTAIN,
        ),
        ({"declared": False}, "the agent does not support push", Likely.LIKELY),
        ({"declared": None}, "the agent does not support push", Likely.POSSIBLE),
        ({"stored": 0}, "the agent did not store the registration", Likely.CERTAIN),
        (
            {"stored": 0, "deliveries": (delivery(taken=False, status=401, refused="No token came."),)},
            "the receiver answered with an error and the agent gave up",
            Likely.CERTAIN,
        ),
        ({"other_tasks": 2}, "the agent pushes the updates of another task", Likely.CERTAIN),
        ({"stored": None}, "the agent did not store the registration", Likely.POSSIBLE),
        ({"registrations": (registration(deleted=True),)}, "the registration was deleted", Likely.CERTAIN),
        ({"ended": NOW - 5}, "the task ended before the registration", Likely.CERTAIN),
        (
            {"advertised": "http://127.0.0.1:9", "agent": "https://agent.example.org"},
            "the agent cannot reach the receiver",
            Likely.LIKELY,
        ),
        ({"advertised": "http://0.0.0.0:9"}, "the agent cannot reach the receiver", Likely.LIKELY),
        (
            {"advertised": "http://127.0.0.1:9", "agent": "http://127.0.0.1:8"},
            "the agent refuses the address",
            Likely.LIKELY,
        ),
        (
            {"deliveries": (delivery(taken=False, status=401, refused="No token came."),)},
            "the receiver answered with an error and the agent gave up",
            Likely.CERTAIN,
        ),
        (
            {"deliveries": (delivery(taken=False, status=500, dialled="500"),)},
            "the receiver answered with an error and the agent gave up",
            Likely.CERTAIN,
        ),
        (
            {"advertised": "https://abc.example.org", "tls_failures": ("the sender does not trust our certificate",)},
            "the agent does not trust our certificate",
            Likely.LIKELY,
        ),
        ({"unknown_paths": 3}, "the agent posts to another path", Likely.LIKELY),
        ({}, "the agent sent no delivery", Likely.POSSIBLE),
        ({"others_arrived": True}, "the agent sent no delivery", Likely.LIKELY),
        (
            {"others_arrived": True, "advertised": "http://127.0.0.1:9", "agent": "http://127.0.0.1:8"},
            "the agent sent no delivery",
            Likely.LIKELY,
        ),
        ({"ended": None, "state": State.WORKING}, "the agent pushes only when the task ends", Likely.POSSIBLE),
    ],
)
def test_each_cause_is_found_by_its_evidence(changed: dict[str, Any], name: str, likely: Likely):
    found = causes(replace(ALL_RULED_OUT, **changed))
    assert found[0].likely is likely
    cause = next(cause for cause in found if cause.name == name)
    assert cause.likely is likely
    assert cause.evidence
    assert cause.remedy.endswith((".", "?"))


@pytest.mark.parametrize("arrived", [{"others_arrived": True}, {"unknown_paths": 2}])
def test_requests_of_the_agent_rule_out_a_refused_address_and_an_unreachable_receiver(arrived: dict[str, Any]):
    known = replace(ALL_RULED_OUT, advertised="http://127.0.0.1:9", agent="http://127.0.0.1:8", **arrived)
    likely = {cause.name: cause.likely for cause in causes(known)}
    assert likely["the agent refuses the address"] is Likely.RULED_OUT
    assert likely["the agent cannot reach the receiver"] is Likely.RULED_OUT


def test_a_failed_tls_handshake_rules_out_a_refused_address_and_an_unreachable_receiver():
    known = replace(
        ALL_RULED_OUT, advertised="https://127.0.0.1:9", agent="http://127.0.0.1:8", tls_failures=("no trust",)
    )
    found = causes(known)
    likely = {cause.name: cause.likely for cause in found}
    assert found[0].name == "the agent does not trust our certificate"
    assert likely["the agent refuses the address"] is Likely.RULED_OUT
    assert likely["the agent cannot reach the receiver"] is Likely.RULED_OUT


def test_an_agent_on_this_machine_may_be_in_a_container_until_a_delivery_arrives():
    known = replace(ALL_RULED_OUT, advertised="http://127.0.0.1:9", agent="http://127.0.0.1:8")
    far = next(cause for cause in causes(known) if cause.name == "the agent cannot reach the receiver")
    assert (far.likely, "container" in far.evidence) == (Likely.POSSIBLE, True)
    came = causes(replace(known, deliveries=(delivery(),)))
    far = next(cause for cause in came if cause.name == "the agent cannot reach the receiver")
    assert far.likely is Likely.RULED_OUT


def test_causes_without_evidence_are_ruled_out():
    found = {cause.name: cause.likely for cause in causes(ALL_RULED_OUT)}
    assert found.pop("the agent cannot reach the receiver") is Likely.POSSIBLE  # only a delivery proves a tunnel works
    assert found.pop("the agent sent no delivery") is Likely.POSSIBLE
    assert set(found.values()) == {Likely.RULED_OUT}


@pytest.mark.parametrize(
    ("state", "likely"),
    [("", Likely.POSSIBLE), (State.COMPLETED, Likely.POSSIBLE), (State.WORKING, Likely.RULED_OUT)],
)
def test_push_of_a_running_task_proves_that_it_was_registered_before_the_end(state: str, likely: Likely):
    known = replace(ALL_RULED_OUT, registrations=(), configs=("http://127.0.0.1:9/x",))
    found = {cause.name: cause.likely for cause in causes(replace(known, deliveries=(delivery(state=state),)))}
    assert found["the task ended before the registration"] is likely


@pytest.mark.parametrize("declared", [False, None])
def test_accepted_deliveries_prove_that_the_agent_supports_push(declared: bool | None):
    found = causes(replace(ALL_RULED_OUT, declared=declared, deliveries=(delivery(state=State.COMPLETED),)))
    assert {cause.likely for cause in found} == {Likely.RULED_OUT}


@pytest.mark.parametrize(
    ("state", "pushed", "missing"),
    [
        (State.COMPLETED, (State.WORKING,), State.COMPLETED),
        (State.COMPLETED, (State.WORKING, State.COMPLETED), ""),
        (State.COMPLETED, (), ""),
        (State.WORKING, (State.SUBMITTED,), ""),
    ],
)
def test_the_end_of_a_task_is_missing_if_only_other_events_were_pushed(state: str, pushed: Any, missing: str):
    deliveries = tuple(delivery(state=each) for each in pushed)
    assert replace(ALL_RULED_OUT, state=state, deliveries=deliveries).missing_end == missing


def test_a_pushed_state_of_a_running_task_proves_that_the_agent_does_not_wait_for_the_end():
    running = replace(ALL_RULED_OUT, ended=None, state=State.WORKING, deliveries=(delivery(state=State.WORKING),))
    assert {cause.likely for cause in causes(running)} == {Likely.RULED_OUT}


def test_an_error_before_accepted_deliveries_is_only_possible():
    known = replace(ALL_RULED_OUT, deliveries=(delivery(taken=False, status=500, dialled="500"), delivery()))
    found = {cause.name: cause.likely for cause in causes(known)}
    assert found["the receiver answered with an error and the agent gave up"] is Likely.POSSIBLE


@pytest.mark.parametrize(
    ("advertised", "agent", "came", "good"),
    [
        ("http://127.0.0.1:9", "http://127.0.0.1:8", False, True),
        ("http://127.0.0.1:9", "http://localhost:8", False, True),
        ("http://127.0.0.1:9", "https://agent.example.org", False, False),
        ("http://127.0.0.1:9", "http://10.0.0.5", False, False),
        ("http://127.0.0.1:9", "https://agent.example.org", True, True),
        ("http://127.0.0.1:9", "", False, None),
        ("http://10.0.0.4:9", "http://10.0.0.5", False, None),
        ("http://10.0.0.4:9", "http://agent.example.org", False, False),
        ("http://100.64.0.4:9", "http://agent.example.org", False, False),
        ("http://100.64.0.4:9", "http://100.64.0.5", False, None),
        ("http://169.254.0.4:9", "http://10.0.0.5", False, None),
        ("http://0.0.0.0:9", "http://127.0.0.1", False, False),
        ("https://abc.example.org", "http://agent.example.org", False, None),
        ("", "http://127.0.0.1:8", False, False),
    ],
)
def test_reachable_compares_the_addresses_of_receiver_and_agent(
    advertised: str, agent: str, came: bool, good: bool | None
):
    found = reachable(advertised, agent, came=came)
    assert found.good is good
    assert found.words


def test_an_accepted_retry_is_no_delivery_that_the_agent_gave_up():
    retried = (
        delivery(taken=False, status=500, dialled="500"),
        delivery(first=1),
        delivery(taken=False, status=429, dialled="429"),
    )
    deliveries = tuple(each._replace(seq=seq) for seq, each in enumerate(retried, 1))
    known = replace(ALL_RULED_OUT, deliveries=deliveries)
    [gave_up] = [cause for cause in causes(known) if "gave up" in cause.name]
    assert (gave_up.likely, gave_up.evidence) == (
        Likely.CERTAIN,
        "1 not accepted, the last with 429: response override: 429",
    )
    known = replace(ALL_RULED_OUT, deliveries=deliveries[:2])
    [gave_up] = [cause for cause in causes(known) if "gave up" in cause.name]
    assert gave_up.likely is Likely.RULED_OUT


@pytest.mark.parametrize("later", [{"first": 1, "status": 500, "dialled": "500"}, {"again": 1, "refused": "Replayed."}])
def test_a_delivery_that_was_accepted_first_was_not_given_up(later: dict[str, Any]):
    deliveries = (delivery()._replace(seq=1), delivery(taken=False, **later)._replace(seq=2))
    [gave_up] = [cause for cause in causes(replace(ALL_RULED_OUT, deliveries=deliveries)) if "gave up" in cause.name]
    assert gave_up.likely is Likely.RULED_OUT


@pytest.mark.parametrize("live", [0, 1])
def test_one_webhook_of_several_without_a_listener_is_only_possible(live: int):
    urls = ("http://127.0.0.1:9/a", "http://127.0.0.1:10/b")
    known = replace(
        ALL_RULED_OUT,
        registrations=(),
        configs=urls,
        advertised=urls[0],
        without_listener=(urls[1 - live],),
        deliveries=(),
    )
    [unreachable] = [cause for cause in causes(known) if cause.name == "the agent cannot reach the receiver"]
    assert (unreachable.likely, unreachable.evidence) == (Likely.POSSIBLE, f"nothing listens at {urls[1 - live]}")


def test_a_challenge_is_not_counted_as_a_delivery():
    known = replace(ALL_RULED_OUT, deliveries=(delivery(challenge=True), delivery()))
    assert known.accepted == 1
