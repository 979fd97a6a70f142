"""A request as a curl command that sends the same bytes."""

from __future__ import annotations

import shlex
from base64 import b64encode
from collections.abc import Mapping

import httpx

from inspector import PROGRAM
from inspector.capture.records import Kind, Record
from inspector.capture.redaction import MASK
from inspector.protocol.bindings.base import Binding, CertificateFiles, GrpcRequest, HttpRequest, WireRequest
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.errors import usage_error
from inspector.session.exchange import CallContext
from inspector.wire.client.credentials import Credentials

_OF_TRANSPORT = frozenset({"host", "connection", "accept-encoding", "content-length", "transfer-encoding"})
"""Headers that every client sends automatically."""

LARGEST_COMMAND = 100_000
"""The longest body on a command line, in bytes: kernels reject much longer bodies."""
PASSPHRASE = "PASSPHRASE"  # noqa: S105 - a name
"""The environment variable from which an exported program reads the passphrase of a client certificate."""
_UNCOMPRESSED = b"\0"


def write(wire: WireRequest, _: CallContext | None = None) -> str:
    """Write a request as a curl command for a POSIX shell; raises `FaultError` if it is too long."""
    if isinstance(wire, GrpcRequest):
        headers = {"Content-Type": "application/grpc", "TE": "trailers", **wire.metadata}
        framed = _UNCOMPRESSED + len(wire.body).to_bytes(4, "big") + wire.body
        scheme = ["--http2"] if wire.tls else ["--http2-prior-knowledge"]
        return _curl("POST", wire.url, headers, framed, [*scheme, "--output", "-"], _certificate(wire.certificate))
    if wire.splices:
        raise usage_error("A large file does not fit on a command line.", "Send it with a2a-inspect send --file.")
    streamed = ["--no-buffer"] if "event-stream" in wire.headers.get("Accept", "") else []
    return _curl(wire.method, _escaped(wire.url), wire.headers, wire.body, streamed, _certificate(wire.certificate))


def _certificate(files: CertificateFiles | None) -> list[str]:
    """Return the options for a client certificate; the shell reads the passphrase from the environment."""
    if files is None:
        return []
    # curl separates a passphrase from the path with a colon.
    path = str(files.certificate).replace("\\", "\\\\").replace(":", "\\:")
    options = [f"--cert {shlex.quote(path)}", *(["--cert-type P12"] if files.is_pkcs12 else [])]
    if files.key is not None:
        options.append(f"--key {shlex.quote(str(files.key))}")
    return [*options, f'--pass "${{{PASSPHRASE}:?}}"'] if files.is_encrypted else options


def _escaped(url: str) -> str:
    """Return a URL as our client sends it, with `%20` for a space and similar escapes."""
    try:
        return str(httpx.URL(url))
    except httpx.InvalidURL:
        return url
    except UnicodeError:
        raise usage_error("Its URL has half of a surrogate pair.", "Correct the URL.") from None


def _curl(
    method: str, url: str, headers: Mapping[str, str], body: bytes, flags: list[str], certificate: list[str]
) -> str:
    if len(body) > LARGEST_COMMAND:
        raise usage_error(
            f"A body of {len(body):,} bytes does not fit on a command line.",
            "Use --preview http, and send it with --request.",
        )
    # The URL in an imported file can begin with a hyphen, and must not become an option.
    place = ["--url", url] if url.startswith("-") else [url]
    words = ["curl", "--silent", "--show-error", "--globoff", "--path-as-is", *flags, "--request", method, *place]
    named = {name.lower() for name in headers}
    # Remove headers that curl would add and that we do not send.
    added = [name for name in ("Accept", "Content-Type", "Expect") if name.lower() not in named]
    given = {**({} if "user-agent" in named else {"User-Agent": PROGRAM}), **headers}
    lines = [shlex.join(words), *certificate, *(f"--header {name}:" for name in added)]
    lines += [f"--header {shlex.quote(f'{name}: {value}' if value else f'{name};')}" for name, value in given.items()]
    if not body:
        return " \\\n  ".join(lines)
    text = text_of(body)
    if text is not None:
        return " \\\n  ".join([*lines, f"--data-raw {shlex.quote(text)}"])
    reading_stdin = " \\\n  ".join([*lines, "--data-binary @-"])
    return f"printf %s {b64encode(body).decode('ascii')} | base64 -d | {reading_stdin}"


def text_of(body: bytes) -> str | None:
    """Return a body as text, None if a shell or a program cannot contain it as text."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def signed_request(request: Record, credentials: Credentials) -> WireRequest:
    """Return a recorded request with these credentials; raises `FaultError` if the record is not a request."""
    binding = BINDINGS.get(str(request.meta.get("binding", "JSONRPC")))
    if request.kind is not Kind.REQUEST or binding is None:
        raise usage_error("This record has no request that can be copied.", "Select a request.")
    wire = recorded(request, binding)
    if isinstance(wire, GrpcRequest):
        return credentials.sign_call(wire, keep_headers=True)
    return credentials.sign(wire, keep_headers=True)


def recorded(request: Record, binding: Binding) -> WireRequest:
    """Return a recorded request without its transport headers and without headers with masked values."""
    headers = {
        str(name): str(value)
        for name, value in request.meta["headers"]
        if str(name).lower() not in _OF_TRANSPORT and MASK not in str(value)
    }
    url, method = str(request.meta["url"]), str(request.meta["method"])
    if not binding.whole:
        return HttpRequest(method, url, headers, request.raw)
    scheme, _, rest = url.partition("://")
    target, _, path = rest.partition("/")
    return GrpcRequest(target, f"/{path}", headers, request.raw, streaming=False, tls=scheme == "grpcs")
