"""`listen`: run the webhook receiver; print its URL, then every delivery."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.cli.arguments import Invocation
from inspector.cli.debug_log import JournalPrinter
from inspector.cli.errors import usage
from inspector.cli.findings import pieces_of
from inspector.cli.kept_capture import kept_capture
from inspector.cli.output import Output
from inspector.cli.run_command import run
from inspector.cli.running_command import RunningCommand
from inspector.cli.signals import on_signal
from inspector.cli.styles import Piece, Role, Styled, mark, state
from inspector.cli.unblocked_stream import UnblockedStream, unblocked
from inspector.findings.lenient_json import LenientReader, json_problems
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json, Unreadable
from inspector.session.card.signing import given_keys
from inspector.session.exporters.json_lines import finding_json, iso_time
from inspector.session.push.attempts import Chain, chains
from inspector.session.push.service import PushService
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.text.safe_json import dump
from inspector.text.units import duration
from inspector.wire.receiver.delivery import NO_TLS
from inspector.wire.receiver.listen_address import tunnels
from inspector.wire.receiver.registration import Proof, WebhookAuth
from inspector.wire.receiver.response_override import SPELLING, ResponseOverride, read_override

_REJECTED = ("PUSH-001", "PUSH-007")
"""The rules of rejected push notifications."""


def listen(invocation: Invocation, out: Output) -> int:
    """Receive push notifications until a signal, `--count` deliveries or `--timeout`."""
    out.lines = out.json
    overrides: list[ResponseOverride] = []
    for text in invocation.given.fail or ():
        override = read_override(text)
        if override is None:
            raise usage(f"--fail: {text!r} is not a response.", f"Write {SPELLING}.")
        overrides.append(override)
    _check(invocation)
    options = invocation.options
    with kept_capture(options, "listen", _holds_deliveries) as path:
        endless = replace(invocation, options=replace(options, timeout=None, capture=path))
        return run(endless, out, lambda current: _listen(current, overrides, options.timeout))


def _holds_deliveries(path: Path) -> bool:
    """Return whether a capture is worth keeping: `doctor --push` searches the captures folder."""
    try:
        with Capture.open(path) as capture:
            return bool(capture.select(kinds={Kind.DELIVERY}, limit=1))
    except CaptureError:
        return False  # nothing was recorded: the receiver could not listen


def _check(invocation: Invocation) -> None:
    """Raise `FaultError` for options that contradict each other."""
    given = invocation.given
    if given.jwks is None and (given.issuer or given.audience):
        raise usage("--issuer and --audience need a JWT.", "Add --jwks with the keys that verify it.")
    if given.jwks is not None and given.auth:
        raise usage("--auth and --jwks cannot be combined: both define Authorization.", "Remove one of them.")


async def _auth(current: RunningCommand) -> WebhookAuth:
    """Return the credentials that deliveries must have; raises `FaultError` for keys that cannot be read."""
    given = current.invocation.given
    if given.jwks is None:
        return WebhookAuth.of(*given.auth) if given.auth else WebhookAuth()
    keys = await given_keys(current.session, given.jwks)
    return WebhookAuth(Proof.JWT, keys=keys, issuer=given.issuer or "", audience=given.audience or "")


async def _listen(current: RunningCommand, overrides: list[ResponseOverride], seconds: float | None) -> None:
    given, push = current.invocation.given, current.session.push
    auth = replace(await _auth(current), with_token=bool(given.token and (given.auth or given.jwks)))
    deliveries = _Deliveries(current)
    await push.listen()
    for override in overrides:
        push.overrides.add(override)
    push.relay.url = given.forward or ""
    with (
        on_signal(deliveries.stop, signal.SIGINT),
        on_signal(deliveries.stop, signal.SIGTERM),
        unblocked(current.out, deliveries.resume) as streams,
    ):
        deliveries.print_to(*streams)
        webhook = push.register(auth=auth, token=given.token or "", elsewhere=True)
        _announce(current.out, push, webhook, current.session.journal.capture.path)
        try:
            async with asyncio.timeout(seconds):
                await deliveries.done.wait()
        except TimeoutError:
            if given.count is not None:
                seen = f"Timed out after {seconds:g} s: {deliveries.received} of {given.count} deliveries arrived."
                hint = "Check that the agent can reach this URL; change it with --host, --port and --public-url."
                raise FaultError(Fault(Whose.AGENT, FaultCode.TIMEOUT, seen, hint)) from None
        else:
            if not deliveries.stopped:  # let the sender of the last delivery get its response
                await _first_of(push.receiver.all_answered(), deliveries.stop_draining.wait())
        finally:
            await push.receiver.stop()  # first, because new deliveries would prolong the draining
            await _drain(current.out, push, deliveries.stop_draining)
            await _first_of(deliveries.end(), deliveries.stop_draining.wait())
    if deliveries.stopped and given.count is not None and deliveries.received < given.count:
        summary = f"{deliveries.received} of {given.count} deliveries arrived"
        raise (KeyboardInterrupt if deliveries.stopped == signal.SIGINT else asyncio.CancelledError)(summary)


async def _drain(out: Output, push: PushService, stop_draining: asyncio.Event) -> None:
    """Forward the remaining deliveries, until a second signal, and warn about those that were not forwarded."""
    await _first_of(push.relay.drain(), stop_draining.wait())
    missed = push.relay.dropped + push.relay.waiting
    if missed:
        out.warn(f"{missed:,} deliveries were not forwarded: the URL of --forward responds too slowly")


async def _first_of(*waits: Coroutine[Any, Any, object]) -> None:
    """Wait for the first coroutine to end, and cancel the others; raises the exception of a coroutine that failed."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, Exception):  # not the `CancelledError` of the others
            raise result


def _announce(out: Output, push: PushService, webhook: WebhookRegistration, capture: Path) -> None:
    """Print the url and the token to register, and how the receiver is configured."""
    registration, receiver = webhook.registration, push.receiver
    _, port = receiver.address
    commands = [] if receiver.advertised else tunnels(receiver.base_url)
    if out.json:
        out.document(
            {
                "listening": {
                    "url": registration.url,
                    "token": registration.token,
                    "address": receiver.authority,
                    "authentication": registration.auth.words,
                    "responses": receiver.overrides.words,
                    "tunnels": commands,
                    "capture": str(capture),
                }
            }
        )
        return
    out.secret_field("URL", registration.url)
    out.secret_field("Token", registration.token)
    out.field("Address", receiver.authority)
    out.field("Authentication", registration.auth.words)
    if receiver.overrides:
        out.field("Responses", receiver.overrides.words)
    if push.relay.url:
        out.field("Forward", out.redact(push.relay.url))
    out.field("Capture", str(capture))
    for command in commands:
        out.field("Tunnel", f"{command}, then run listen again with --port {port} --public-url URL")
    out.flush()


class _Deliveries(JournalPrinter):
    """Prints deliveries, and the results of forwarding them, when they are recorded and the output is read.

    While the output is not read, deliveries are answered and recorded, and printed later. `done` is set to end the
    command, `stop_draining` to stop forwarding and printing.
    """

    kinds = frozenset({Kind.DELIVERY, Kind.NOTE})

    def __init__(self, current: RunningCommand) -> None:
        super().__init__(current.session.journal, current.out)
        self._verbose = current.invocation.verbose
        self._count: int | None = current.invocation.given.count
        self._streams: tuple[UnblockedStream, ...] = ()
        self.received = 0
        self.stopped: signal.Signals | None = None
        self.done, self.stop_draining = asyncio.Event(), asyncio.Event()

    def stop(self, number: signal.Signals) -> None:
        """Stop listening at the first signal; at the second signal, stop forwarding and printing, too."""
        self.stopped = self.stopped or number
        if self.done.is_set():
            self.stop_draining.set()
        self.done.set()

    def print_to(self, stdout: UnblockedStream, stderr: UnblockedStream) -> None:
        """Print to a stream from now on; stderr has the output of `--debug`."""
        self._streams = (stdout, stderr)

    def resume(self) -> None:
        """Print what was recorded while the output was not read; end the command if the output was lost."""
        if any(stream.error for stream in self._streams):
            self.done.set()
            self.stop_draining.set()
        self._journal.notify()

    async def end(self) -> None:
        """Print the remaining deliveries, and the retries of deliveries that were not accepted at first."""
        self._journal.notify()
        while any(stream.is_waiting for stream in self._streams):
            for stream in self._streams:
                await stream.drain()
            self._journal.notify()
        self._print_retries()
        self._out.flush()
        for stream in self._streams:
            await stream.drain()

    def _print_retries(self) -> None:
        now = datetime.now(UTC).timestamp()
        for chain in chains(self._journal.capture.select(kinds={Kind.DELIVERY})):
            if len(chain.attempts) == 1 and not chain.attempts[0].overridden:
                continue  # rejected, so a retry is not expected
            if self._out.json:
                self._out.document(_chain_as_json(chain))
            else:
                self._out.field("Retries", f"#{chain.attempts[0].seq} {chain.words(now)}")

    def _on_records(self, records: Sequence[Record]) -> None:
        deliveries = [record for record in records if record.kind is Kind.DELIVERY]
        self.received += sum(record.meta["method"] != NO_TLS for record in deliveries)
        super()._on_records(records)
        if self._count is not None and self.received >= self._count:
            self.done.set()

    def _is_waiting(self) -> bool:
        return not self._streams or self._streams[0].is_waiting

    def _print(self, record: Record) -> None:
        if record.kind is Kind.DELIVERY:
            if self._out.json:
                self._out.document({"delivery": _as_json(record)})
            else:
                _print(self._out, record, verbose=self._verbose)
        elif record.event == "forward" and self._out.json:
            self._out.document({"forwarded": dict(record.meta)})
        elif record.event == "forward":
            self._out.field("Forwarded", record.label)
            self._out.flush()


def _time(at: float) -> str:
    return iso_time(at).replace("+00:00", "Z")


def _body(record: Record) -> Any:
    """Return a body as JSON, or as text if parsing it would lose information."""
    value = parse(record.raw)
    if isinstance(value, Unreadable) or any(json_problems(LenientReader().read(record.raw.decode("utf-8")))):
        return record.raw.decode("utf-8", "replace")
    return value


def _as_json(record: Record) -> Json:
    meta = record.meta
    return {
        "seq": record.seq,
        "at": _time(record.at),
        **{name: meta[name] for name in ("peer", "method", "target", "headers", "status")},
        "accepted": meta["taken"],
        "rejection": meta["refused"],
        "response": meta["dialled"],
        "challenge": meta["challenge"],
        "authentication": meta["asked"],
        "attempt": meta["attempt"],
        "retryOf": meta["first"] or None,
        "sinceLastAttempt": meta["gap"] if meta["first"] else None,
        "latency": meta["latency"],
        "checks": [{"name": name, "passed": good, "message": text} for name, good, text in meta["checks"]],
        "findings": [finding_json(finding) for finding in record.findings],
        "event": record.event,
        "taskId": record.task,
        "state": record.state,
        "body": _body(record),
    }


def _chain_as_json(chain: Chain) -> dict[str, Any]:
    return {
        "retries": {
            "retryOf": chain.attempts[0].seq,
            "taskId": chain.task,
            "responses": [attempt.answer for attempt in chain.attempts],
            "intervals": [round(gap, 6) for gap in chain.gaps],
            "accepted": chain.accepted,
        }
    }


def _result(meta: Any) -> str:
    """Return the result of a delivery as text."""
    if meta["refused"]:
        return f"rejected with {meta['status']}" if meta["status"] else "rejected"
    if meta["challenge"]:
        return "answered an ownership challenge"
    return f"responded {meta['dialled']} (--fail)" if meta["dialled"] else "accepted"


def _checks(checks: Any) -> Iterator[Piece]:
    for number, (name, passed, _) in enumerate(checks):
        yield " " if number else ""
        yield mark(passed)
        yield name


def _print_checks(out: Output, meta: Mapping[str, Any]) -> None:
    """Print the checks of a delivery, its order if that is not the usual one, and which checks failed and why."""
    failed = [(name, text) for name, good, text in meta["checks"] if good is False]
    if meta["checks"]:
        out.field("Checks", *_checks(meta["checks"]))
    for name, good, text in meta["checks"]:
        if name == "order" and good is None and not meta["first"]:  # late, early, or a replay
            out.field("Order", text)
    if meta["refused"] and not failed:
        out.field("Error", meta["refused"])  # data that is not HTTP has no checks
    for name, text in failed:
        out.field("Failed check", f"{name}: {text}")


def _print(out: Output, record: Record, *, verbose: bool) -> None:
    meta = record.meta
    # The reason of a rejection is also in its finding and in the label. It is printed once, as a failed check.
    rejections = [finding for finding in record.findings if meta["refused"] and finding.rule in _REJECTED]
    result = ", ".join([_result(meta), *(f"{finding.severity.value} {finding.rule}" for finding in rejections)])
    role = Role.BAD if meta["refused"] else Role.WARNING if meta["dialled"] else Role.GOOD
    head = f"#{record.seq} {_time(record.at)} {meta['method']} from {meta['peer']}, "
    out.field("Delivery", head, Styled(result, role))
    if meta["first"]:
        since = f"{duration(meta['gap'])} after attempt {meta['attempt'] - 1}"
        out.field("Attempt", f"{meta['attempt']}, {since}; the first is #{meta['first']}")
    _print_checks(out, meta)
    for finding in record.findings:
        if finding not in rejections:
            out.field("Finding", *pieces_of(finding))
    if record.task:
        out.field("Task", record.task)
    if record.state:
        out.field("State", state(record.state))
    if record.label and not meta["refused"]:
        out.field("Content", record.label)
    if meta["latency"] is not None:
        out.field("Latency", f"{meta['latency'] * 1000:,.0f} ms after the event")
    out.field("Size", f"{record.size:,} bytes")
    if verbose:
        out.block("Headers", "\n".join(f"{name}: {value}" for name, value in meta["headers"]))
        body = _body(record)
        out.block("Body", body if isinstance(body, str) else dump(body, 2))
    out.flush()
