"""Every command that a key can start, and its keys: one key has one meaning in all views and dialogs.

A widget binds a command with `bind` and may describe it in more detail. A command without a key is in the actions menu
and in the command palette. The table `[keys]` of the settings file changes keys by the ids of this list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import NamedTuple

from textual.binding import ActiveBinding, Binding
from textual.keys import format_key

UNBOUND = "unbound_"
"""The beginning of the name of a key that does not exist, for commands without a key."""


VIEW = "view."
"""The beginning of the ids of the keys that go to a view."""


_KEY = re.compile(r"(?:(?:ctrl|alt|shift)\+)*(?:[a-z0-9_]+|\S)", re.IGNORECASE)
_changed: dict[str, str] = {}


class Group(Enum):
    """The groups of the help; commands of `INSPECT` and `TASK` are in the actions menu of the selected item."""

    SEND = "Send"
    INSPECT = "Inspect"
    TASK = "Task and webhook"
    GO_TO = "Go to"
    EDIT = "Edit"
    MOVE = "Move"


class Command(NamedTuple):
    """A command: its keys, separated by commas, its name for the footer, a sentence for the help, and its group."""

    keys: str
    name: str
    meaning: str
    group: Group


def _of(group: Group, **commands: tuple[str, str, str]) -> dict[str, Command]:
    return {name.replace("_", "-"): Command(*command, group) for name, command in commands.items()}


COMMANDS: dict[str, Command] = {
    **_of(
        Group.SEND,
        write=("i", "write", "Write a message"),
        compose=("ctrl+o", "compose", "Edit the whole message: parts, options, request"),
        send=("ctrl+s", "send", "Send the message"),
        send_once=("ctrl+b", "send once", "Send once with the other setting of streaming"),
        streaming=("ctrl+t", "streaming", "Turn streaming on or off"),
        new_task=("ctrl+r", "new task", "Start a new task in a new context"),
        webhook=("p", "webhook", "Register a webhook with every message, or stop"),
        interface=("I,f4", "interface", "Choose the interface and protocol version"),
        send_again=("e", "send again", "Send the selected message or delivery again"),
        history=("ctrl+up", "history", "Sent messages and snippets"),
        credentials=("C", "credentials", "Log in to the agent, enter a secret for it, or log out"),
        form=("alt+i", "form", "Fill in the form of the agent"),
        editor=("ctrl+g", "$EDITOR", "Edit the text in $EDITOR"),
    ),
    **_of(
        Group.INSPECT,
        open=("enter", "open", "Open what is selected"),
        actions=("a", "actions", "Show everything that can be done with what is selected"),
        representation=("v", "representation", "Show the next representation"),
        copy=("y", "copy", "Copy what is selected"),
        copy_as=("Y", "copy as", "Copy what is selected in another form, for example as curl"),
        save=("S", "save", "Save what is selected as a file"),
        filter=("slash", "filter", "Filter or search"),
        filter_form=("F", "filter form", "Filter by context, state and time, and list what matches from the agent"),
        sort=("h", "sort", "Sort by the next column"),
        reverse_sort=("H", "reverse", "Reverse the order of the rows"),
        next_match=("n", "next", "Go to the next match"),
        previous_match=("N", "previous", "Go to the previous match"),
        fold=("f", "fold", "Fold or unfold runs of chunks, or the tests that passed"),
        refresh=("r", "refresh", "Fetch or run again what is selected"),
        travel=("t", "time travel", "Show the task at an earlier event"),
        previous_event=("left_square_bracket", "previous event", "Go to the previous event of the task"),
        next_event=("right_square_bracket", "next event", "Go to the next event of the task"),
        mark=("m", "mark", "Mark this moment for a comparison"),
        compare=("c", "compare", "Compare"),
        translate=("T", "translate", "Translate the record to another protocol version"),
        bookmark=("b", "bookmark", "Add or remove a bookmark"),
        next_bookmark=("B", "next bookmark", "Go to the next bookmark or remark"),
        remark=("A", "remark", "Write a remark on the record"),
        next_artifact=("greater_than_sign", "next artifact", "Show the next artifact of the task"),
        previous_artifact=("less_than_sign", "previous artifact", "Show the previous artifact of the task"),
        next_part=("right_curly_bracket", "next part", "Show the next part of the artifact"),
        previous_part=("left_curly_bracket", "previous part", "Show the previous part of the artifact"),
        statistics=("", "statistics", "Show the statistics of the stream"),
        extended_card=("", "extended card", "Get the extended card and compare it with the public card"),
        verify=("", "verify", "Fetch the keys and verify the signatures of the card"),
        changes=("", "changes", "Show the changes since earlier cards"),
        older_card=("", "older card", "Compare with an older card"),
        edit_card=("E", "edit card", "Edit and validate a copy of the card"),
        raw_card=("", "raw card", "Show the card as it was received"),
        copy_webhook_url=("", "copy URL", "Copy the URL of the webhook"),
        copy_webhook_token=("", "copy token", "Copy the token of the webhook"),
        make_check=("M", "make check", "Make a check file of the selected exchange, its task or all exchanges"),
        check_file=("L", "load", "Load a check file"),
        run_all=("u", "run all", "Run all tests of the check file"),
        run_failed=("U", "run failed", "Run the failed tests again"),
        first_attempt=("", "first attempt", "Go to the first attempt of the delivery"),
    ),
    **_of(
        Group.TASK,
        subscribe=("s", "subscribe", "Subscribe to the task (SubscribeToTask)"),
        reconnect=("", "reconnect automatically", "Turn automatic reconnecting of streams on or off"),
        stop=("full_stop", "stop call", "Stop the running call here: disconnect, without CancelTask"),
        cancel=("x", "cancel task", "Cancel the task (CancelTask), or stop the run of tests"),
        poll=("P", "poll", "Start or stop polling the task (GetTask)"),
        poll_interval=("", "poll interval", "Set the interval of polling"),
        list=("l", "list", "List from the agent"),
        register=("R", "register", "Register a webhook for the task"),
        get_webhook=("", "get webhook", "Get the webhook of the task"),
        delete_webhooks=("", "delete webhooks", "Delete the webhooks of the task"),
        override=("O", "override", "Override the response to deliveries, to simulate an error"),
        forward=("", "forward", "Start or stop forwarding deliveries"),
        tunnel=("", "tunnel", "Show how to make the receiver reachable from outside"),
        diagnose=("w", "diagnose", "Find out why deliveries are missing"),
    ),
    **_of(
        Group.GO_TO,
        connect=("o", "connect", "Connect to another agent, or open a capture"),
        next_connection=("ctrl+pagedown", "next agent", "Go to the next agent or capture"),
        previous_connection=("ctrl+pageup", "previous agent", "Go to the previous agent or capture"),
        close_connection=("X", "close", "Close the agent or capture"),
        doctor=("d", "doctor", "Check whether the agent is reachable, its card, interfaces and versions"),
        next_pane=("tab", "next pane", "Go to the next pane"),
        previous_pane=("shift+tab", "previous pane", "Go to the previous pane"),
        zoom=("z", "zoom", "Maximise the pane, or restore it"),
        back=("escape", "back", "Go back, or close"),
        quit=("q", "quit", "Close the dialog, or quit a2a-inspect"),
        suspend=("", "suspend", "Suspend a2a-inspect; fg in the shell continues it"),
        quit_always=("ctrl+q", "quit", "Quit a2a-inspect"),
        help=("question_mark,f1", "help", "Show the keys and symbols"),
        settings=("comma", "settings", "Change the settings and the keys"),
        palette=("ctrl+p", "commands", "Search all commands and themes"),
        tour=("f2", "tour", "Start the guided tour, or go to it"),
    ),
    **_of(
        Group.EDIT,
        new_line=("ctrl+j", "new line", "Begin a new line in the message"),
        undo=("ctrl+z", "undo", "Undo the last change"),
        add_part=("insert,ctrl+n", "add part", "Add a part to the message"),
        remove=("delete", "remove", "Remove what is selected"),
        duplicate=("D", "duplicate", "Duplicate the part"),
        part_up=("K,shift+up", "move up", "Move the part up"),
        part_down=("J,shift+down", "move down", "Move the part down"),
        next_part_to_edit=("f7", "next part", "Edit the next part"),
        preview=("f8", "preview", "Switch between the part and the request"),
        raw_request=("f3", "edit raw", "Edit the raw request, or discard the edits"),
        copy_request=("f5", "copy as", "Copy the request, for example as curl"),
        save_snippet=("f9", "save", "Save the message as a snippet (*.a2a.toml)"),
        format_json=("alt+j", "format JSON", "Indent the JSON, one member per line"),
        next_finding=("f6", "next finding", "Go to the text of the next finding"),
        complete=("tab", "complete", "Accept the completion, or go to the next field"),
        select=("space", "select", "Select or deselect the value"),
    ),
    **_of(
        Group.MOVE,
        up=("up,k", "up", "One line up"),
        down=("down,j", "down", "One line down"),
        page_up=("pageup", "page up", "One page up"),
        page_down=("pagedown", "page down", "One page down"),
        first=("home,g", "first", "Go to the first line"),
        last=("end,G", "last", "Go to the last line, and follow the end"),
        left=("left", "left", "Go to the left"),
        right=("right", "right", "Go to the right"),
        scroll_left=("shift+left", "left", "Scroll to the left"),
        scroll_right=("shift+right", "right", "Scroll to the right"),
    ),
}
"""All commands by id."""

NO_AGENT = "a capture has no agent"
"""Why what needs an agent is disabled in a capture."""

READ_ONLY = frozenset(
    {
        *("write", "compose", "send", "send-once", "streaming", "new-task", "webhook", "send-again", "history"),
        *("credentials", "form", "editor", "save", "make-check", "run-all", "run-failed"),
        *("cancel", "register", "delete-webhooks", "override", "forward", "save-snippet", "settings", "tour"),
    }
)
"""The commands that `--read-only` disables: they send something that changes an agent, or write a file."""


def bind(
    command: str, action: str, name: str = "", meaning: str = "", *, show: bool = True, priority: bool = False
) -> Binding:
    """Return the binding of a command to an action; `name` and `meaning` replace those of the command."""
    keys, default_name, default_meaning, _ = COMMANDS[command]
    return Binding(
        keys or UNBOUND + command,
        action,
        name or default_name,
        id=command,
        tooltip=meaning or default_meaning,
        show=show and bool(keys),
        priority=priority,
    )


def use_keys(changed: Mapping[str, str]) -> None:
    """Use other keys for some commands in the sentences of the screen; Textual's keymap changes the bindings."""
    _changed.clear()
    _changed.update(changed)


def first_key(command: str) -> str:
    """Return the first key of a command as bindings name it."""
    return (_changed.get(command) or COMMANDS[command].keys).partition(",")[0].strip()


def key_of(command: str) -> str:
    """Return the first key of a command as it is shown everywhere, in sentences, footers and menus."""
    return shown_key(first_key(command))


def shown_key(key: str) -> str:
    """Return the spelling of a key on the screen and in the documentation: `^z` for `ctrl+z`, `esc` for `escape`."""
    *modifiers, name = key.split("+")
    others = [modifier for modifier in modifiers if modifier != "ctrl"]
    caret = "^" if "ctrl" in modifiers else ""
    return "+".join([*others, caret + (name if name == "enter" else format_key(name))])


def problem_of(changed: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return the first mistake in keys that a user chose: the command, what is wrong, and what is allowed."""
    for command, keys in changed.items():
        if command not in COMMANDS:
            near = get_close_matches(command, COMMANDS, 1)
            meant = f", for example {near[0]}" if near else ""
            return command, f"{command!r} is not a command", f"the commands of docs/keys.md{meant}"
        for key in keys.split(","):
            if not _KEY.fullmatch(key.strip()):
                return command, f"{key.strip()!r} is not a key", "a character, or a name such as f7, ctrl+x or slash"
            clash = next((name for name in _users_of(key.strip(), changed) if name != command), "")
            if clash:
                return (
                    command,
                    f"{key.strip()!r} is already the key of {clash!r}",
                    "another key, or change that key, too",
                )
    return None


def _users_of(key: str, changed: Mapping[str, str]) -> Iterator[str]:
    for name, command in COMMANDS.items():
        if key in [each.strip() for each in (changed.get(name) or command.keys).split(",")]:
            yield name


def command_with(key: str) -> str:
    """Return the command with a key, `""` without one."""
    return next(_users_of(key, _changed), "")


def group_of(binding: Binding) -> Group | None:
    """Return the group of the command of a binding, None for the bindings of Textual."""
    if (binding.id or "").startswith(VIEW):
        return Group.GO_TO
    command = COMMANDS.get(binding.id or "")
    return command.group if command is not None else None


def is_read_only(active: ActiveBinding) -> bool:
    """Return whether `--read-only` disables an action."""
    is_disabled = getattr(active.node.app, "is_disabled", None)
    return is_disabled is not None and bool(is_disabled(active.binding))


def disabled_reason(command: str, *nodes: object) -> str:
    """Return why a command cannot be used now, from the first node that knows it, `""` if none does.

    Views, panes and the workbench have a method `disabled_reason`. Its result completes the sentence of
    `not_available`.
    """
    asked = (getattr(node, "disabled_reason", None) for node in nodes)
    return next(filter(None, (str(ask(command)) for ask in asked if ask is not None)), "")


def not_available(key: str, command: str, reason: str, places: Sequence[str] | None) -> str:
    """Return the sentence about a key that does nothing; `places` are the views with its command, None for this one."""
    name = f"{shown_key(key)} ({COMMANDS[command].name})"
    if reason:
        return f"{name} is not available: {reason}."
    if places is None:
        return f"{name} is not available now."
    *first, last = places or [""]
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{name} is not available here{f', but in {listed}' if listed else ''}."


def why_not(active: ActiveBinding) -> str:
    """Return why an action is not available: `read-only`, or what the agent does not support; `""` if it is."""
    if is_read_only(active):
        return "read-only"
    ask = getattr(active.node, "unavailable_reason", None)
    return str(ask(active.binding.action)) if ask else ""


def lacks_agent(active: ActiveBinding) -> bool:
    """Return whether an action is disabled because a capture has no agent, so that it is never enabled."""
    reason = "" if active.enabled else disabled_reason(active.binding.id or "", active.node, active.node.screen)
    return reason == NO_AGENT


def keys_table() -> str:
    """Return all commands as a Markdown table, for docs/keys.md."""
    lines = ["| command | key | action |", "|---|---|---|"]
    for group in Group:
        lines.append(f"| **{group.value}** | | |")
        for name, command in COMMANDS.items():
            if command.group is group:
                keys = " ".join(f"`{shown_key(key)}`" for key in command.keys.split(",") if key)
                lines.append(f"| {name} | {keys} | {command.meaning} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(keys_table(), end="")  # noqa: T201 - for docs/keys.md
