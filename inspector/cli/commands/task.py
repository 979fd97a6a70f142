"""The subcommands of `task` (`get`, `cancel`, `list`, `subscribe`, `push-config`), and `push`."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser


def _add_task(parser: Parser, metavar: str = "ID") -> None:
    parser.add_argument("id", type=values.identifier, metavar=metavar, help="the task")
    parser.add_agent()


def _add_get(parser: Parser) -> None:
    _add_task(parser)
    parser.switch("--wait --watch", "ask again until the task ends or waits for you")
    parser.add_save()
    parser.add_waiting()
    parser.add_request()


def _add_cancel(parser: Parser) -> None:
    _add_task(parser)
    parser.add_request()


def _add_list(parser: Parser) -> None:
    parser.add_agent()
    parser.value("--context-id ID", "only tasks of this context", values.identifier)
    parser.value("--status STATE", "only tasks in this state: working ...", values.state)
    parser.value("--after TIME", "only tasks whose status is from then or later (ISO 8601)", values.moment)
    parser.value("--page-size N", "ask for so many tasks at once", values.positive)
    parser.value("--page-token TOKEN", "begin at the page that this names", values.identifier)
    parser.add_history()
    parser.switch("--include-artifacts", "ask for the artifacts too")
    parser.switch("--all", "follow the pages to the last one")
    parser.switch("--stream", "print tasks page by page as they come (with -o json: JSON Lines, a task a line)")
    parser.add_request()


def _add_subscribe(parser: Parser) -> None:
    _add_task(parser)
    parser.switch("--stream", "show the events live (with -o json: JSON Lines); else the task when it has ended")
    parser.add_waiting()
    parser.add_request()


def _add_push_set(parser: Parser) -> None:
    _add_task(parser, "TASK")
    parser.value("--url URL", "where the agent is to push to", values.web_url)
    parser.value("--token TOKEN", "what it is to send in the notification header", values.secret)
    parser.value("--auth SCHEME:CREDENTIALS", "what it is to send as Authorization", values.authentication)
    parser.value("--id ID", "name the configuration", values.identifier, dest="config_id")
    parser.add_request()


def _add_push_list(parser: Parser) -> None:
    _add_task(parser, "TASK")
    parser.add_request()


def _add_push_config(parser: Parser) -> None:
    _add_task(parser, "TASK")
    parser.value("--id ID", "the configuration", values.identifier, dest="config_id")
    parser.add_request()


GET = Handler(_add_get, Deferred("inspector.cli.tasks:get"))
CANCEL = Handler(_add_cancel, Deferred("inspector.cli.tasks:cancel"))
LIST = Handler(_add_list, Deferred("inspector.cli.tasks:list_tasks"))
SUBSCRIBE = Handler(_add_subscribe, Deferred("inspector.cli.tasks:subscribe"))
SET_PUSH = Handler(_add_push_set, Deferred("inspector.cli.push_config:set_config"))
GET_PUSH = Handler(_add_push_config, Deferred("inspector.cli.push_config:get_config"))
LIST_PUSH = Handler(_add_push_list, Deferred("inspector.cli.push_config:list_configs"))
DELETE_PUSH = Handler(_add_push_config, Deferred("inspector.cli.push_config:delete_config"))
