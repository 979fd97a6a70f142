"""Tell the requests of the agent from those of other senders, such as scanners and browsers.

The receiver records every request. Only those of the agent are evidence about it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from inspector.capture.records import Record
from inspector.protocol.http_fields import header
from inspector.text.units import counted
from inspector.wire.receiver.delivery import NO_TLS

BROWSING = frozenset({"GET", "HEAD", "OPTIONS"})
"""The methods of browsers, link previews and scanners; a push is a POST."""


class Requests(NamedTuple):
    """The requests at the receiver by their sender.

    `deliveries` are those of the agent to the registrations of a task, except those about another task, which are
    `other_tasks`. `unknown_paths` counts the events of the task
    that came to other paths. `tls_failures` has the reasons of failed handshakes, whose sender is unknown. `others`
    describes the requests of other senders, `""` for none.
    """

    deliveries: tuple[Record, ...]
    unknown_paths: int
    tls_failures: tuple[str, ...]
    others: str
    other_tasks: tuple[Record, ...] = ()


def sort_requests(requests: Iterable[Record], numbers: Collection[int], task_id: str) -> Requests:
    """Sort requests by their sender; `numbers` are those of the registrations of the task.

    A rejected request to a registration is from another sender if it is not a push, or if its User-Agent differs from
    that of all deliveries that passed the checks. Without a registration, only an event of the task is from the agent.
    """
    kept = [record for record in requests if record.meta["registration"] in {0, *numbers}]
    agents = {_user_agent(record) for record in kept if record.meta["registration"] and not record.meta["refused"]}
    deliveries: list[Record] = []
    others: list[Record] = []
    other_tasks: list[Record] = []
    tls_failures: list[str] = []
    unknown_paths = 0
    for record in kept:
        method = record.meta.get("method", "POST")
        if method == NO_TLS:
            tls_failures.append(record.label)
        elif not record.meta["registration"]:
            own = method == "POST" and record.task == task_id
            unknown_paths += own
            others += () if own else (record,)
        elif record.meta["refused"] and (method in BROWSING or (agents and _user_agent(record) not in agents)):
            others.append(record)
        elif record.task not in ("", task_id):
            other_tasks.append(record)
        else:
            deliveries.append(record)
    return Requests(tuple(deliveries), unknown_paths, tuple(tls_failures), _in_words(others), tuple(other_tasks))


def count_accepted(deliveries: Iterable[Record]) -> int:
    """Return how many deliveries were accepted, without the challenges of 0.1, which are not about a task."""
    return sum(bool(record.meta.get("taken")) for record in deliveries if not record.meta.get("challenge"))


def _user_agent(record: Record) -> str:
    return header(record.meta.get("headers", ()), "user-agent")


def _in_words(others: list[Record]) -> str:
    if not others:
        return ""
    last = others[-1].meta
    sender = f"{last.get('peer', '').rpartition(':')[0]} {_user_agent(others[-1])}".strip()
    count = f"{counted(len(others), 'request')} of other senders"
    return f"{count} not counted, the last: {last.get('method')} {last.get('target')} from {sender or 'unknown'}"
