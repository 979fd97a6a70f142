"""What goes wrong with a gRPC call before it has a status from the server, in words, from those of the library."""

from __future__ import annotations

import re
from collections.abc import Mapping

from inspector.protocol.bindings.base import GrpcRequest
from inspector.protocol.errors import Fault, FaultCode, Whose
from inspector.wire.client.observations import Ending

_TOO_LARGE = re.compile(r"CLIENT: Received message larger than max \((\d+) vs\. (\d+)\)")
_HTTP_STATUS = re.compile(r"Received http2 header with status: (\d+)")
_NO_GRPC = ("http1.x server", "Expected SETTINGS frame", "Failed parsing HTTP/2")
_BROKEN = (
    "Socket closed",
    "recvmsg:",
    "sendmsg:",
    "GOAWAY",
    "Connection reset",
    "Broken pipe",
    "RST_STREAM",
    "Stream r",
)
"""How the library's words begin where a connection that stood was lost; a server may say anything else."""

_NAME = re.compile(r"[0-9a-z_.-]+")
_VALUE = re.compile(r"[\x20-\x7e]*")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
BINARY = "-bin"
"""How the names of metadata end whose values are bytes."""


class LostError(Exception):
    """Raised where a call gets no status from the server: how it ended, and why in words."""

    def __init__(self, how: Ending, fault: Fault) -> None:
        super().__init__(fault.seen)
        self.how = how
        self.fault = fault


def is_made_up(code: str, words: str, *, connected: bool) -> bool:
    """Say whether a status is the library's own, for there was no answer, and not one that a server sent."""
    if not connected:
        return code == "UNAVAILABLE"
    return words.startswith(_BROKEN) or bool(_TOO_LARGE.search(words) or _HTTP_STATUS.match(words))


def unfit(metadata: Mapping[str, str]) -> Fault | None:
    """Say which metadata gRPC cannot carry, None where it can carry all of it."""
    for name, value in metadata.items():
        fitting = _BASE64 if name.endswith(BINARY) else _VALUE
        if not _NAME.fullmatch(name) or not fitting.fullmatch(value) or (fitting is _BASE64 and len(value) % 4 == 1):
            return Fault(
                Whose.YOURS,
                FaultCode.USAGE,
                f"The header {name!r} cannot be written as gRPC metadata.",
                "Names have letters, digits, '_', '-', '.'; values printable ASCII, base64 where a name ends in -bin.",
            )
    return None


def silent(call: GrpcRequest) -> LostError:
    """Say that nobody took the connection in time."""
    return LostError(
        Ending.BROKEN,
        Fault(
            Whose.NETWORK,
            FaultCode.UNREACHABLE,
            f"{call.target} did not answer the connection in time.",
            "A firewall that drops packets looks like this, and so does a server that does not speak HTTP/2.",
        ),
    )


def lost(words: str, call: GrpcRequest, events: int, *, connected: bool) -> LostError:
    """Put a status of the library's own into words; `events` is how many messages came before."""
    if found := _TOO_LARGE.search(words):
        seen = f"Stopped reading: a message has {int(found[1]):,} bytes, the limit is {int(found[2]):,}."
        hint = "Is an answer of this size meant? The limit is there so that no agent can fill this machine."
        return LostError(Ending.LIMIT, Fault(Whose.AGENT, FaultCode.UNREACHABLE, seen, hint))
    whose, seen, hint = _broken(words, call) if connected else _unreached(words, call)
    if events:
        seen = f"The stream broke off after {events:,} event{'s' if events > 1 else ''}. {seen}"
    return LostError(Ending.BROKEN, Fault(whose, FaultCode.UNREACHABLE, seen, hint))


def _broken(words: str, call: GrpcRequest) -> tuple[Whose, str, str]:
    if found := _HTTP_STATUS.match(words):
        hint = "A web server or a proxy without gRPC answers like this; is the url on the card that of the gRPC port?"
        return Whose.AGENT, f"{call.target} answered with HTTP {found[1]}, without a gRPC status.", hint
    hint = "Did the agent crash, or stop, while it answered? Its log will tell."
    return Whose.AGENT, f"{call.target} broke off: {words}.", hint


def _unreached(words: str, call: GrpcRequest) -> tuple[Whose, str, str]:
    host = call.target.rpartition(":")[0]
    why = words.rpartition("last error: ")[2]
    if "Connection refused" in words:
        seen = f"Nothing listens at {call.target}: the connection was refused."
        return Whose.AGENT, seen, "Is the agent running, and is this its gRPC port?"
    if "errors resolving" in words or "DNS resolution failed" in words:
        hint = "Check the spelling, the network and, inside a container, its DNS."
        return Whose.NETWORK, f"The name {host} could not be resolved.", hint
    if "CERTIFICATE_VERIFY_FAILED" in words or "erification Check" in words or "not in peer certificate" in words:
        hint = "Check its name, dates and chain; --insecure trusts any chain, for development only."
        return Whose.AGENT, f"The certificate of {host} was refused: {why}.", hint
    if "andshake failed" in words:
        hint = "Is this port served without TLS? Then the card should say grpc:// or http://."
        return Whose.AGENT, f"TLS with {host} failed: {why}.", hint
    if any(mark in words for mark in _NO_GRPC):
        hint = "Is this the port of another transport? gRPC needs HTTP/2, and a port of its own with most agents."
        return Whose.AGENT, f"{call.target} does not speak HTTP/2.", hint
    if "Socket closed" in words or "recvmsg" in words:
        hint = "Is TLS spoken there? Then the card should say grpcs:// or https://."
        return Whose.AGENT, f"{call.target} took the connection and closed it.", hint
    return Whose.NETWORK, f"No connection to {call.target}: {why}.", "Check host, port and the network between."
