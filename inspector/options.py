"""The command-line options that the TUI and the commands share."""

from __future__ import annotations

import os
from dataclasses import field
from pathlib import Path

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import usage_error
from inspector.text.typed_path import typed_path

HOME_VARIABLE = "A2A_INSPECT_HOME"
"""The environment variable with the folder for captures, state and settings instead of the folders of the platform."""
BINDING_NAMES = ("JSONRPC", "HTTP+JSON", "GRPC")
"""The names of the supported bindings on cards; a constant, because the bindings themselves are slow to load."""
CREDENTIALS = frozenset(
    {"bearer", "basic", "api_key", "headers", "svc_params", "client_cert", "client_key", "client_passphrase"}
)
"""The options whose values are secrets."""


@dataclass(frozen=True, slots=True)
class Options:
    """The agent, the credentials, the connection, the capture and the appearance; the repr contains no secret.

    `reference` is the agent as typed, or the URL of the agent `agent_name` of `agents.toml`. `demo` selects the
    built-in mock agent, `tour` starts with the guided tour. `basic` is a user and a password with a colon between them.
    `client_cert` and `client_key` are the files of a client certificate, `client_passphrase` is a reference
    (`env:NAME`) to its passphrase. `trust` lists further origins that get the credentials, `auth_card` sends them with
    the first request for the card, `stored_auth_only` uses only tokens that were stored, `redirect_port` is the port
    for the redirect of a login, `timeout` is in seconds, `resubscribe` reconnects a disconnected stream automatically.
    `trusted_keys` is a file with public keys that the user trusts for signatures of mandates. With `read_only`, nothing
    is sent that changes an agent, and only captures are written. `keep_captures` and `keep_megabytes` limit the
    captures folder, `changed_keys` has the keys of commands that the user changed. `check_file` is loaded in the Checks
    view, `check_variables` are for all check files. `recording` is a capture to open instead of an agent, `capture` the
    file to record to. `named_by` is the file (with the line) of the project that names the agent, unless the user
    trusts its origin: a foreign project could name any host, so that the agent does not get the environment, and no
    credentials if they are `withheld`.
    """

    reference: str | None = None
    agent_name: str = ""
    demo: bool = False
    tour: bool = False
    bearer: str = field(default="", repr=False)
    basic: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    client_cert: Path | None = None
    client_key: Path | None = None
    client_passphrase: str = ""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    svc_params: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    trust: tuple[str, ...] = ()
    stored_auth_only: bool = False
    redirect_port: int = 8765
    transports: tuple[str, ...] = ()
    a2a_version: str = ""
    auth_card: bool = False
    insecure: bool = False
    trusted_keys: Path | None = None
    receiver_host: str = "127.0.0.1"
    receiver_port: int = 0
    public_url: str | None = None
    receiver_cert: Path | None = None
    receiver_key: Path | None = None
    timeout: float | None = None
    resubscribe: bool = False
    read_only: bool = False
    check_file: Path | None = None
    check_variables: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    recording: Path | None = None
    capture: Path | None = None
    ascii: bool = False
    theme: str | None = None
    keep_captures: int = 50
    keep_megabytes: int = 1024
    changed_keys: tuple[tuple[str, str], ...] = ()
    named_by: str = ""
    withheld: bool = False


def home_folder() -> Path | None:
    """Return the folder of `A2A_INSPECT_HOME`, None if it is not set; raises `FaultError` for an impossible path."""
    home = os.environ.get(HOME_VARIABLE)
    try:
        return typed_path(home).absolute() if home else None
    except OSError as error:
        seen = f"{HOME_VARIABLE} is not the path of a folder: {home}: {error.strerror}."
        raise usage_error(seen, "Set it to an absolute path.") from error
