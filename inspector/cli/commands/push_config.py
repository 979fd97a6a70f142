"""`task push-config` and `push`: the push notification configurations of a task."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser


def _add_task(parser: Parser) -> None:
    parser.add_argument("id", type=values.identifier, metavar="TASK", help="the task")
    parser.add_agent()


def _add_set(parser: Parser) -> None:
    _add_task(parser)
    parser.value("--url URL", "where the agent is to push to", values.web_url)
    parser.value("--token TOKEN", "what it is to send in the notification header", values.secret)
    parser.value("--auth SCHEME:CREDENTIALS", "what it is to send as Authorization", values.authentication)
    parser.value("--id ID", "name the configuration", values.identifier, dest="config_id")
    parser.add_request()


def _add_list(parser: Parser) -> None:
    _add_task(parser)
    parser.add_request()


def _add_one(parser: Parser) -> None:
    _add_task(parser)
    parser.value("--id ID", "the configuration", values.identifier, dest="config_id")
    parser.add_request()


SET = Handler(_add_set, Deferred("inspector.cli.push_config:set_config"))
GET = Handler(_add_one, Deferred("inspector.cli.push_config:get_config"))
LIST = Handler(_add_list, Deferred("inspector.cli.push_config:list_configs"))
DELETE = Handler(_add_one, Deferred("inspector.cli.push_config:delete_config"))
