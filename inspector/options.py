"""What a user may ask of either face on its command line, as plain values that load nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """Which agent, with which credentials, how, and where the capture goes; the repr shows no secret.

    `reference` is the agent as typed (None: not said), `demo` the built-in mock agent instead, and `tour` whether that
    begins with the tour; `headers` and `svc_params` are name and value, in order; `trust` lists origins that may have
    the credentials too; `timeout` is in seconds, None without an end; `resubscribe` is whether a task whose stream is
    lost is listened to again without being asked; `recording` is the capture to open in place of any agent; `capture`
    is None for the usual place; `ascii` and `theme` are the screen's.
    """

    reference: str | None = None
    demo: bool = False
    tour: bool = False
    bearer: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    svc_params: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    trust: tuple[str, ...] = ()
    transports: tuple[str, ...] = ()
    a2a_version: str = ""
    insecure: bool = False
    receiver_host: str = "127.0.0.1"
    receiver_port: int = 0
    public_url: str | None = None
    receiver_cert: Path | None = None
    receiver_key: Path | None = None
    timeout: float | None = None
    resubscribe: bool = False
    recording: Path | None = None
    capture: Path | None = None
    ascii: bool = False
    theme: str | None = None
