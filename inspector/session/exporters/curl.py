"""A request as a curl command that sends the same bytes."""

from __future__ import annotations

import shlex
from base64 import b64encode
from collections.abc import Mapping

import httpx

from inspector.capture.records import Record
from inspector.capture.redaction import MASK
from inspector.protocol.bindings.base import Binding, GrpcRequest, HttpRequest, WireRequest
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.session.exchange import CallContext

_OF_TRANSPORT = frozenset({"host", "connection", "accept-encoding", "content-length", "transfer-encoding"})
"""Headers that every client writes by itself."""

LARGEST_COMMAND = 100_000
"""How long a body may be in a command line, in bytes: kernels refuse much longer ones."""
_COMPRESSED = b"\0"


def write(wire: WireRequest, _: CallContext) -> str:
    """Write a request as a curl command."""
    return as_curl(wire)


def as_curl(wire: WireRequest) -> str:
    """Write a request as a curl command for a POSIX shell; raises `FaultError` where it is too long for one."""
    if isinstance(wire, GrpcRequest):
        headers = {"Content-Type": "application/grpc", "TE": "trailers", **wire.metadata}
        framed = _COMPRESSED + len(wire.body).to_bytes(4, "big") + wire.body
        scheme = ["--http2"] if wire.tls else ["--http2-prior-knowledge"]
        return _curl("POST", wire.url, headers, framed, [*scheme, "--output", "-"])
    if wire.insets:
        raise cannot_express("A request with a large file in it is no command line; a2a-inspect send --file sends it.")
    streamed = ["--no-buffer"] if "event-stream" in wire.headers.get("Accept", "") else []
    return _curl(wire.method, _escaped(wire.url), wire.headers, wire.body, streamed)


def _escaped(url: str) -> str:
    """Return a url as our client asks it, which curl would not do: with `%20` for a blank and the like."""
    try:
        return str(httpx.URL(url))
    except httpx.InvalidURL:
        return url


def _curl(method: str, url: str, headers: Mapping[str, str], body: bytes, flags: list[str]) -> str:
    if len(body) > LARGEST_COMMAND:
        raise cannot_express(f"A body of {len(body):,} bytes is too long for a command line.")
    words = ["curl", "--silent", "--show-error", "--globoff", "--path-as-is", *flags, "--request", method, url]
    named = {name.lower() for name in headers}
    # What curl would add by itself, and we do not send, is taken away.
    added = [name for name in ("Accept", "Content-Type", "Expect") if name.lower() not in named]
    given = {**({} if "user-agent" in named else {"User-Agent": "a2a-inspect"}), **headers}
    lines = [shlex.join(words), *(f"--header {name}:" for name in added)]
    lines += [f"--header {shlex.quote(f'{name}: {value}' if value else f'{name};')}" for name, value in given.items()]
    if not body:
        return " \\\n  ".join(lines)
    text = text_of(body)
    if text is not None:
        return " \\\n  ".join([*lines, f"--data-raw {shlex.quote(text)}"])
    fed = " \\\n  ".join([*lines, "--data-binary @-"])
    return f"printf %s {b64encode(body).decode('ascii')} | base64 -d | {fed}"


def text_of(body: bytes) -> str | None:
    """Return a body that a shell and a program can hold as text, None for one that they cannot."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def cannot_express(words: str) -> FaultError:
    """Make the error for a request that a format cannot express."""
    return FaultError(Fault(Whose.YOURS, FaultCode.USAGE, words))


def recorded(request: Record, binding: Binding) -> WireRequest:
    """Return a request as it was recorded, without the headers of the transport, and without those that are masked."""
    headers = {
        str(name): str(value)
        for name, value in request.meta["headers"]
        if str(name).lower() not in _OF_TRANSPORT and MASK not in str(value)
    }
    url, method = str(request.meta["url"]), str(request.meta["method"])
    if not binding.whole:
        return HttpRequest(method, url, headers, request.raw)
    scheme, _, place = url.partition("://")
    target, _, path = place.partition("/")
    return GrpcRequest(target, f"/{path}", headers, request.raw, streaming=False, tls=scheme == "grpcs")
