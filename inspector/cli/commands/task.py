"""The subcommands of `task` (`get`, `cancel`, `list`, `subscribe`, `download`, `push-config`), and `push`."""

from __future__ import annotations

from pathlib import Path

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser

_GET_EXAMPLES = """\
# Start a task, and print it when it has ended
TASK_ID=$(a2a-inspect send -a http://localhost:9000 --text 'report 3' --async -o json | jq -r .task.id)
a2a-inspect task get -a http://localhost:9000 "$TASK_ID" --wait
# Print a task with the last 5 messages, as JSON
a2a-inspect task get -a http://localhost:9000 "$TASK_ID" --history 5 -o json"""

_CANCEL_EXAMPLES = """\
# Start a task, and cancel it
TASK_ID=$(a2a-inspect send -a http://localhost:9000 --text long --async -o json | jq -r .task.id)
a2a-inspect task cancel -a http://localhost:9000 "$TASK_ID"
# Cancel a task, and print it as JSON
a2a-inspect task cancel -a http://localhost:9000 "$TASK_ID" -o json"""

_LIST_EXAMPLES = """\
# List the tasks that need input
a2a-inspect task list http://localhost:9000 --status input-required
# List all tasks since a time, as JSON Lines
a2a-inspect task list http://localhost:9000 --after 2026-01-31T12:00:00Z --all --stream -o json"""

_SUBSCRIBE_EXAMPLES = """\
# Start a task, and print its events when they arrive
TASK_ID=$(a2a-inspect send -a http://localhost:9000 --text long --async -o json | jq -r .task.id)
a2a-inspect task subscribe -a http://localhost:9000 "$TASK_ID" --stream
# Wait for the end of a task for at most a minute, and print it
a2a-inspect task subscribe -a http://localhost:9000 "$TASK_ID" --timeout 1m"""

_DOWNLOAD_EXAMPLES = """\
# Save the artifacts of a task in the current folder
TASK_ID=$(a2a-inspect send -a http://localhost:9000 --text file -o json | jq -r .task.id)
a2a-inspect task download -a http://localhost:9000 "$TASK_ID"
# Wait for the end of a task, and save its artifacts in a folder
a2a-inspect task download -a http://localhost:9000 "$TASK_ID" --wait --out artifacts"""

_SET_PUSH_EXAMPLES = """\
# Push the updates of a task to the URL that `a2a-inspect listen --token secret` prints
a2a-inspect task push-config create -a http://localhost:9000 "$TASK_ID" --url "$WEBHOOK_URL" --token secret
# Choose the id of the configuration
a2a-inspect task push-config create -a http://localhost:9000 "$TASK_ID" --url "$WEBHOOK_URL" --id mine"""

_GET_PUSH_EXAMPLES = """\
# Print a configuration
a2a-inspect task push-config get -a http://localhost:9000 "$TASK_ID" --id mine
# Print a configuration as JSON, with its secrets
a2a-inspect task push-config get -a http://localhost:9000 "$TASK_ID" --id mine -o json"""

_LIST_PUSH_EXAMPLES = """\
# List the configurations of a task
a2a-inspect task push-config list -a http://localhost:9000 "$TASK_ID"
# Print the URLs of the configurations
a2a-inspect task push-config list -a http://localhost:9000 "$TASK_ID" -o json | jq -r '.configs[].url'"""

_DELETE_PUSH_EXAMPLES = """\
# Delete a configuration
a2a-inspect task push-config delete -a http://localhost:9000 "$TASK_ID" --id mine
# Delete a configuration over HTTP+JSON
a2a-inspect task push-config delete -a http://localhost:9000 "$TASK_ID" --id mine --transport HTTP+JSON"""


def _add_task(parser: Parser, metavar: str = "ID") -> None:
    parser.add_argument("id", type=values.identifier, metavar=metavar, help="the id of the task")
    parser.add_agent()


def _add_get(parser: Parser) -> None:
    _add_task(parser)
    parser.switch("--wait --watch", "poll until the task ends, or needs input or authorization")
    parser.add_save()
    parser.add_waiting()
    parser.add_request()


def _add_cancel(parser: Parser) -> None:
    _add_task(parser)
    parser.add_request()


def _add_list(parser: Parser) -> None:
    parser.add_agent(as_argument=True)
    parser.value("--context-id ID", "list tasks in this context only", values.identifier)
    parser.value("--status STATE", "list tasks in this state only: working, input-required ...", values.state)
    parser.value("--after TIME", "list tasks whose status changed at this time or later (ISO 8601)", values.moment)
    parser.value("--page-size N", "request this many tasks per page", values.positive)
    parser.value("--page-token TOKEN", "start at the page with this token", values.identifier)
    parser.add_history()
    parser.switch("--include-artifacts", "also request the artifacts")
    parser.switch("--all", "request all pages")
    parser.switch("--stream", "print each page when it arrives (with -o json: JSON Lines, one task per line)")
    parser.add_request()


def _add_subscribe(parser: Parser) -> None:
    _add_task(parser)
    parser.switch(
        "--stream",
        "print events when they arrive, not only the final task (in a terminal: their text as it flows; with -o json: "
        "JSON Lines)",
    )
    parser.add_waiting()
    parser.add_request()


def _add_download(parser: Parser) -> None:
    _add_task(parser)
    parser.value(
        "--out DIR",
        "save in this folder, under safe file names (default: .)",
        values.folder,
        default=Path(),
        dest="save",
    )
    parser.switch("--wait --watch", "poll until the task ends, or needs input or authorization")
    parser.add_waiting()
    parser.add_request()


def _add_push_set(parser: Parser) -> None:
    _add_task(parser, "TASK")
    parser.value("--url URL", "the URL that receives the push notifications (required)", values.web_url)
    parser.value("--token TOKEN", "the token that the agent sends in X-A2A-Notification-Token", values.secret)
    parser.value("--auth SCHEME:CREDENTIALS", "what the agent sends in Authorization", values.authentication)
    parser.value(
        "--id ID", "the id of the configuration (default: the agent's choice)", values.identifier, dest="config_id"
    )
    body = "A2A 0.3 over HTTP+JSON: send the configuration, or the whole request (default: config)"
    parser.value("--body FORM", body, choices=("config", "request"), default="config")
    parser.add_request()


def _add_push_list(parser: Parser) -> None:
    _add_task(parser, "TASK")
    parser.add_request()


def _add_push_config(parser: Parser) -> None:
    _add_task(parser, "TASK")
    parser.value("--id ID", "the id of the configuration", values.identifier, dest="config_id")
    parser.add_request()


GET = Handler(_add_get, Deferred("inspector.cli.tasks:get"), _GET_EXAMPLES)
CANCEL = Handler(_add_cancel, Deferred("inspector.cli.tasks:cancel"), _CANCEL_EXAMPLES)
LIST = Handler(_add_list, Deferred("inspector.cli.tasks:list_tasks"), _LIST_EXAMPLES)
SUBSCRIBE = Handler(_add_subscribe, Deferred("inspector.cli.tasks:subscribe"), _SUBSCRIBE_EXAMPLES)
DOWNLOAD = Handler(_add_download, Deferred("inspector.cli.tasks:download"), _DOWNLOAD_EXAMPLES)
SET_PUSH = Handler(_add_push_set, Deferred("inspector.cli.push_config:set_config"), _SET_PUSH_EXAMPLES)
GET_PUSH = Handler(_add_push_config, Deferred("inspector.cli.push_config:get_config"), _GET_PUSH_EXAMPLES)
LIST_PUSH = Handler(_add_push_list, Deferred("inspector.cli.push_config:list_configs"), _LIST_PUSH_EXAMPLES)
DELETE_PUSH = Handler(_add_push_config, Deferred("inspector.cli.push_config:delete_config"), _DELETE_PUSH_EXAMPLES)
