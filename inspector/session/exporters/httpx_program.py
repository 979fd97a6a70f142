"""A request as a Python program over httpx that sends the same bytes."""

from __future__ import annotations

from inspector.protocol.bindings.base import GrpcRequest, HttpRequest, WireRequest
from inspector.session.exchange import CallContext
from inspector.session.exporters.curl import cannot_express, text_of


def write(wire: WireRequest, _: CallContext | None = None) -> str:
    """Write a request as a Python program over httpx; raises `FaultError` for a gRPC call."""
    if isinstance(wire, GrpcRequest):
        raise cannot_express("httpx does not support gRPC.", "Use curl instead.")
    if wire.splices:
        raise cannot_express("A large file does not fit into a program.", "Send it with a2a-inspect send --file.")
    content = text_of(wire.body)
    lines = ["import httpx", "", f"headers = {_table(wire)}"]
    lines.append(f"content = {wire.body!r}" if content is None else f"content = {content!r}.encode()")
    call = f"httpx.stream({wire.method!r}, {wire.url!r}, headers=headers, content=content, timeout=None)"
    lines += [f"with {call} as response:", "    print(response.status_code, response.headers)"]
    return "\n".join([*lines, "    for line in response.iter_lines():", "        print(line)", ""])


def _table(wire: HttpRequest) -> str:
    # httpx encodes a str as ASCII.
    values = {name: value if value.isascii() else value.encode() for name, value in wire.headers.items()}
    return "{\n" + "".join(f"    {name!r}: {value!r},\n" for name, value in values.items()) + "}"
