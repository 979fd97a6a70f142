"""The agent that serves a recording: HTTP on one port, gRPC on another."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..card import grpc_target
from ..listening import WRITE_TIMEOUT, GrpcListener, HttpListener
from .grpc_replay import GrpcReplay
from .http_replay import HttpReplay
from .playback import Player
from .pushes import PushReplay
from .recording import Recording
from .rewriting import Addresses, lists_grpc

if TYPE_CHECKING:
    from ..tls import Tls

_LARGEST = 256 * 2**20
"""The maximum size of a request in bytes: recorded requests can have large files."""


class ReplayAgent:
    """Serves a recording. `pace` multiplies the recorded pauses, 0 removes them; `log` receives a line for each event.

    A client that does not read for `write_timeout` seconds is disconnected.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        pace: float = 1.0,
        log: Callable[[str], None] = lambda _: None,
        tls: Tls | None = None,
        write_timeout: float = WRITE_TIMEOUT,
    ) -> None:
        self.url = ""
        self.grpc_port = 0
        self._recording = recording
        self._tls = tls
        self._pushes = PushReplay(recording.capture, pace, log)
        self._player = Player(recording, pace, log, self._pushes)
        self._http = HttpReplay(self._player, self._addresses, log, write_timeout)
        self._grpc = GrpcReplay(self._player, self._addresses, log)
        self._http_listener: HttpListener | None = None
        self._grpc_listener: GrpcListener | None = None

    @property
    def grpc_target(self) -> str:
        """Return the gRPC address as `host:port`, `""` without gRPC."""
        return grpc_target(self.url, self.grpc_port) if self.grpc_port else ""

    @property
    def counts(self) -> tuple[int, int, int]:
        """Return the numbers of tasks that were served, of running series of pushes, and of responses being sent."""
        return len(self._player.opened), self._pushes.running, self._http.streams + self._grpc.streams

    def _addresses(self, origin: str) -> Addresses:
        base = origin or self.url
        return Addresses(base, grpc_target(base, self.grpc_port) if self.grpc_port else "")

    async def start(self, host: str = "127.0.0.1", port: int = 0, grpc_port: int | None = 0) -> str:
        """Listen and return the base URL; port 0 selects a free port. Raises OSError if a port is in use.

        gRPC is served if the recording has calls over gRPC, or if its card has an interface for gRPC.
        """
        self._http_listener = await HttpListener.start(self._http.handle, host, port, self._tls, _LARGEST)
        self.url = self._http_listener.url
        has_grpc = self._recording.has_grpc or any(lists_grpc(card.raw) for card in self._recording.cards)
        if has_grpc and grpc_port is not None:
            try:
                self._grpc_listener = await GrpcListener.start(
                    self._grpc.handlers, host, grpc_port, self._tls, _LARGEST
                )
            except BaseException:
                await self.stop()
                raise
            self.grpc_port = self._grpc_listener.port
        return self.url

    async def stop(self) -> None:
        """Stop listening and end every response and every push."""
        http, self._http_listener = self._http_listener, None
        grpc, self._grpc_listener = self._grpc_listener, None
        if http is not None:
            await http.refuse_connections()
        if grpc is not None:
            await grpc.stop()
        if http is not None:
            await http.close()
        await self._pushes.close()
