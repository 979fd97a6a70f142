"""The agents that tools call: a session for each agent, which records in a capture of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import field, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from mcp.server.mcpserver.exceptions import ToolError

from inspector.capture import paths
from inspector.capture.private_files import remove
from inspector.findings.finding import Finding
from inspector.lazy_dataclass import dataclass
from inspector.mcp_server.files import capture_name, readable_file
from inspector.mcp_server.results import Result, finding_rows, refused, tidy
from inspector.mcp_server.search import find_findings
from inspector.options import Options
from inspector.protocol.errors import FaultError
from inspector.session.session import Session
from inspector.session.settings import settings_from
from inspector.text.reference import local_path, with_scheme
from inspector.wire.client.credentials import split_userinfo

_LONGEST_TEXT = 2_000
"""The most characters of a text that an agent wrote."""
_FLUSH_SECONDS = 5.0
_MOST_SESSIONS = 8
"""The most agents with an open session; the session that was not used for the longest time is closed first."""


@dataclass(slots=True)
class SessionUse:
    """One use of a session by a tool: `first` is the number of the first record that it may have added."""

    session: Session
    reference: str
    first: int

    def result(self, members: Result, findings: Sequence[Finding] | None = None) -> Result:
        """Return the result of a tool, with findings (default: about what was received) and the records to look at."""
        if findings is None:
            recorded = find_findings(self.session.journal.capture, after=self.first - 1)
            findings = [finding for _, finding in recorded.findings]
        rows = finding_rows(findings)
        tidied: Any = tidy({**members, "findings": rows}, self.session.journal.redactor, _LONGEST_TEXT)
        return {**tidied, **self.records()}

    def records(self) -> Result:
        """Return the capture, and the first and the last record that was added during this use; `{}` without any."""
        capture = self.session.journal.capture
        if len(capture) < self.first:
            return {}
        capture.flush(_FLUSH_SECONDS)
        return {"capture": capture_name(capture.path), "firstRecord": self.first, "lastRecord": len(capture)}

    def failure(self, error: FaultError) -> ToolError:
        """Return the error of a tool for a failed call, with the records that show it."""
        seen, text = self.records(), self.session.journal.redactor.text(str(error))
        if not seen:
            return refused(text)
        return refused("{} Records {firstRecord} to {lastRecord} of {capture} show it.".format(text, **seen))


@dataclass(slots=True)
class _Entry:
    """An open session, the lock of the tool that uses it, and the number of tools that use it or wait for it."""

    session: Session
    options: Options
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


@dataclass(slots=True)
class Agents:
    """The sessions of the server, by their options: agents with the same URL can have different credentials.

    `options_of` returns the options for an agent, with the credentials that the user chose for this agent; `""` is the
    agent of the command line. Unless `may_send`, nothing is sent that changes an agent.
    """

    options_of: Callable[[str], Options]
    may_send: bool = False
    _open: dict[Options, _Entry] = field(default_factory=dict)
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def require_sending(self, what: str) -> None:
        """Raise `ToolError` if the server is read-only."""
        if not self.may_send:
            raise refused(f"The server is read-only: {what} needs --allow-send. Ask the user to restart it.")

    @asynccontextmanager
    async def use(self, agent: str) -> AsyncIterator[SessionUse]:
        """Yield the session with an agent, for one tool at a time; raises `FaultError` or `ToolError`."""
        options = self.options_of(agent)
        reference = options.reference or ""
        if not reference:
            raise refused("No agent was given. Pass agent: a URL, a card file, or a name of agents.toml.")
        path = local_path(reference)
        if path is not None and reference == agent != self.options_of("").reference:
            reference = str(readable_file(str(path)))  # the model chose it, not the command line or agents.toml
        entry = await self._entry(replace(options, reference=reference), reference)
        try:
            async with entry.lock:
                session = entry.session
                use = SessionUse(session, reference, len(session.journal.capture) + 1)
                try:
                    yield use
                except FaultError as error:
                    raise use.failure(error) from error
        finally:
            entry.users -= 1

    async def _entry(self, options: Options, reference: str) -> _Entry:
        """Return the open session for these options, or open it; the caller counts as a user of it."""
        async with self._changing:
            entry = self._open.pop(options, None) or await self._start(options, reference)
            self._open[options] = entry  # as the newest
            entry.users += 1
            return entry

    async def _start(self, options: Options, reference: str) -> _Entry:
        idle = [key for key, entry in self._open.items() if not entry.users]
        if len(self._open) >= _MOST_SESSIONS and idle:
            await self._end(self._open.pop(idle[0]))
        # A model can write check files: they must not read the environment, and send it or return it.
        settings = replace(
            settings_from(options), no_environment="checks of the MCP server do not read the environment"
        )
        host = urlsplit(split_userinfo(with_scheme(reference))[0]).netloc
        path = paths.new_capture_path(f"mcp-{host}", datetime.now().astimezone())
        try:
            return _Entry(Session(path, settings), options)
        except FaultError:
            remove(path)
            raise

    async def _end(self, entry: _Entry) -> None:
        """Close a session; its capture is deleted if it is empty, as are old captures beyond the settings."""
        await entry.session.close()
        capture, options = entry.session.journal.capture, entry.options
        if not len(capture):
            remove(capture.path)
        paths.prune(paths.captures_folder(), keep=options.keep_captures, most_bytes=options.keep_megabytes * 2**20)

    async def close(self) -> None:
        """Close every session."""
        async with self._changing:
            while self._open:
                await self._end(self._open.popitem()[1])
