"""Legal bytes that break clients in use, and what each client does with them.

`make interop` runs every client that has no `source`, and fails if a client does something else than this table. The
other clients were read in their source code, at the tag of the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import cache

from inspector.findings.rule_set import NEWEST_FIRST
from inspector.lazy_dataclass import dataclass
from inspector.protocol.dialects.traits import VERSIONS

VERIFIED = "2026-11-23"
"""The day on which every row was verified."""

JSONRPC, HTTP_JSON = "JSONRPC", "HTTP+JSON"


class Hazard(StrEnum):
    """Bytes that break a client; the value is the id of the rule that reports them."""

    BYTE_ORDER_MARK = "STREAM-021"
    WITHOUT_DATA = "STREAM-025"
    SEPARATOR = "CLIENT-001"
    CR = "CLIENT-002"
    DATA_LINES = "CLIENT-003"
    ERROR_EVENT = "CLIENT-004"
    SIZE = "CLIENT-005"
    MEDIA_TYPE = "CLIENT-006"
    DEPTH = "CLIENT-007"
    JSON_ERROR = "CLIENT-008"


BYTES: dict[Hazard, str] = {
    Hazard.BYTE_ORDER_MARK: "a stream that starts with a byte order mark",
    Hazard.WITHOUT_DATA: "a block with `id`, `event` or `retry`, but without `data`",
    Hazard.SEPARATOR: "U+2028, U+2029 or U+0085 in data, not escaped",
    Hazard.CR: "lines that end with CR alone",
    Hazard.DATA_LINES: "an event with several `data` lines",
    Hazard.ERROR_EVENT: "`event: error` with a valid event",
    Hazard.SIZE: "a line over the limit",
    Hazard.MEDIA_TYPE: "`Text/Event-Stream`: a media type that is not in lower case",
    Hazard.DEPTH: "JSON that is nested deeper than the limit",
    Hazard.JSON_ERROR: "a JSON-RPC error as application/json in the response to a streaming call",
}
"""The bytes of each hazard, for the documentation."""


class Effect(StrEnum):
    """What a client does with the bytes of a hazard."""

    ERROR = "error"
    LOST = "event lost, no error"
    NOTHING = "no event, no error"
    HIDDEN = "the agent's error is lost"


class Unit(StrEnum):
    """What the limit of a client counts; `UTF16` counts a character beyond U+FFFF twice."""

    BYTES = "bytes"
    UTF16 = "characters"
    LEVELS = "levels"
    PROTOBUF = "protobuf levels"


@dataclass(frozen=True, slots=True)
class Client:
    """A release of a client and the protocol version that it speaks.

    `source` is the repository with the tag of a client that `make interop` does not run, `""` for the other clients.
    """

    name: str
    release: str
    version: str
    source: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.release}"


PYTHON_1_0 = Client("a2a-python", "1.3.0", "1.0")
PYTHON_0_3 = Client("a2a-python", "0.3.26", "0.3")
PYTHON_0_2 = Client("a2a-python", "0.2.16", "0.2")
JS_1_0 = Client("a2a-js", "1.3.0", "1.0")
JS_0_3 = Client("a2a-js", "0.3.14", "0.3")
GO_1_0 = Client("a2a-go", "2.3.1", "1.0", "a2aproject/a2a-go v2.3.1")
GO_0_3 = Client("a2a-go", "0.3.15", "0.3", "a2aproject/a2a-go v0.3.15")
JAVA_1_0 = Client("a2a-java", "1.2.0.Final", "1.0", "a2aproject/a2a-java v1.2.0.Final")
JAVA_0_3 = Client("a2a-java", "0.3.3.Final", "0.3", "a2aproject/a2a-java v0.3.3.Final")
DOTNET_1_0 = Client("a2a-dotnet", "1.0.0-preview2", "1.0", "a2aproject/a2a-dotnet v1.0.0-preview2")
DOTNET_0_3 = Client("a2a-dotnet", "0.3.4-preview", "0.3", "a2aproject/a2a-dotnet v0.3.4-preview")


@dataclass(frozen=True, slots=True)
class Failure:
    """What a client does with the bytes of a hazard over some bindings.

    `limit` is the largest number of `unit` that the client reads. `file` is the file of the client with the cause, for
    clients with a `source`.
    """

    hazard: Hazard
    client: Client
    effect: Effect
    file: str = ""
    bindings: tuple[str, ...] = (JSONRPC, HTTP_JSON)
    limit: int = 0
    unit: Unit = Unit.BYTES

    @property
    def described_limit(self) -> str:
        """Return the limit in words, `""` if there is none."""
        return f"over {self.limit:,} {self.unit}" if self.limit else ""


_GO_SSE, _GO_RPC = "internal/sse/sse.go", "a2aclient/jsonrpc.go"
_JAVA_SSE = "http-client/src/main/java/org/a2aproject/sdk/client/http/ServerSentEventParser.java"
_JAVA_0_3_HTTP = "http-client/src/main/java/io/a2a/client/http/JdkA2AHttpClient.java"
_DOTNET = "src/A2A/Client/A2AClient.cs"
_GO_LINE = 10 * 1024 * 1024 - 1
"""The longest line of a `bufio.Scanner` whose buffer has 10 MiB, without the line end."""

FAILURES: tuple[Failure, ...] = (
    Failure(Hazard.BYTE_ORDER_MARK, PYTHON_1_0, Effect.LOST),
    Failure(Hazard.BYTE_ORDER_MARK, PYTHON_0_3, Effect.LOST),
    Failure(Hazard.BYTE_ORDER_MARK, PYTHON_0_2, Effect.LOST, bindings=(JSONRPC,)),
    Failure(Hazard.BYTE_ORDER_MARK, GO_1_0, Effect.LOST, _GO_SSE),
    Failure(Hazard.BYTE_ORDER_MARK, GO_0_3, Effect.LOST, _GO_SSE, (JSONRPC,)),
    Failure(Hazard.BYTE_ORDER_MARK, JAVA_1_0, Effect.LOST, _JAVA_SSE),
    Failure(Hazard.BYTE_ORDER_MARK, JAVA_0_3, Effect.LOST, _JAVA_0_3_HTTP),
    Failure(Hazard.WITHOUT_DATA, PYTHON_0_2, Effect.ERROR, bindings=(JSONRPC,)),
    Failure(Hazard.SEPARATOR, PYTHON_1_0, Effect.ERROR),
    Failure(Hazard.CR, JS_1_0, Effect.NOTHING),
    Failure(Hazard.CR, JS_0_3, Effect.NOTHING),
    Failure(Hazard.CR, GO_1_0, Effect.ERROR, _GO_SSE),
    Failure(Hazard.CR, GO_0_3, Effect.ERROR, _GO_SSE, (JSONRPC,)),
    Failure(Hazard.DATA_LINES, JS_0_3, Effect.ERROR),
    Failure(Hazard.DATA_LINES, GO_1_0, Effect.ERROR, _GO_SSE),
    Failure(Hazard.DATA_LINES, GO_0_3, Effect.ERROR, _GO_SSE, (JSONRPC,)),
    Failure(Hazard.ERROR_EVENT, PYTHON_1_0, Effect.ERROR),
    Failure(Hazard.ERROR_EVENT, JS_1_0, Effect.ERROR, bindings=(HTTP_JSON,)),
    Failure(Hazard.ERROR_EVENT, JS_0_3, Effect.ERROR, bindings=(HTTP_JSON,)),
    Failure(Hazard.SIZE, JAVA_1_0, Effect.ERROR, _JAVA_SSE, limit=65_536, unit=Unit.UTF16),
    Failure(Hazard.SIZE, JS_1_0, Effect.ERROR, limit=4 * 1024 * 1024, unit=Unit.UTF16),
    Failure(Hazard.SIZE, GO_1_0, Effect.ERROR, _GO_SSE, limit=_GO_LINE),
    Failure(Hazard.SIZE, GO_0_3, Effect.ERROR, _GO_SSE, (JSONRPC,), limit=_GO_LINE),
    Failure(Hazard.MEDIA_TYPE, PYTHON_1_0, Effect.ERROR),
    Failure(Hazard.MEDIA_TYPE, PYTHON_0_3, Effect.ERROR),
    Failure(Hazard.MEDIA_TYPE, PYTHON_0_2, Effect.ERROR, bindings=(JSONRPC,)),
    Failure(Hazard.MEDIA_TYPE, JS_1_0, Effect.ERROR),
    Failure(Hazard.MEDIA_TYPE, JS_0_3, Effect.ERROR),
    Failure(Hazard.MEDIA_TYPE, DOTNET_0_3, Effect.ERROR, _DOTNET, (JSONRPC,)),
    Failure(Hazard.DEPTH, PYTHON_1_0, Effect.ERROR, limit=100, unit=Unit.PROTOBUF),
    Failure(Hazard.DEPTH, PYTHON_0_3, Effect.ERROR, bindings=(HTTP_JSON,), limit=100, unit=Unit.PROTOBUF),
    Failure(Hazard.DEPTH, DOTNET_1_0, Effect.ERROR, _DOTNET, limit=64, unit=Unit.LEVELS),
    Failure(Hazard.JSON_ERROR, PYTHON_0_3, Effect.HIDDEN, bindings=(JSONRPC,)),
    Failure(Hazard.JSON_ERROR, PYTHON_0_2, Effect.HIDDEN, bindings=(JSONRPC,)),
    Failure(Hazard.JSON_ERROR, JS_0_3, Effect.HIDDEN, bindings=(JSONRPC,)),
    Failure(Hazard.JSON_ERROR, GO_1_0, Effect.NOTHING, _GO_RPC, (JSONRPC,)),
    Failure(Hazard.JSON_ERROR, GO_0_3, Effect.NOTHING, _GO_RPC, (JSONRPC,)),
    Failure(Hazard.JSON_ERROR, JAVA_0_3, Effect.NOTHING, _JAVA_0_3_HTTP, (JSONRPC,)),
    Failure(Hazard.JSON_ERROR, DOTNET_1_0, Effect.NOTHING, _DOTNET, (JSONRPC,)),
    Failure(Hazard.JSON_ERROR, DOTNET_0_3, Effect.HIDDEN, _DOTNET, (JSONRPC,)),
)


@cache
def failures(hazard: Hazard, version: str, binding: str) -> tuple[Failure, ...]:
    """Return the clients that the bytes of a hazard break, if they speak a protocol version over a binding."""
    spoken = {version, VERSIONS[version].extends}
    return tuple(
        failure
        for failure in FAILURES
        if failure.hazard is hazard and failure.client.version in spoken and binding in failure.bindings
    )


def versions_of(hazard: Hazard) -> tuple[str, ...]:
    """Return the protocol versions of the clients that the bytes of a hazard break, the newest first."""
    spoken = {failure.client.version for failure in FAILURES if failure.hazard is hazard}
    return tuple(version for version in NEWEST_FIRST if version in spoken)


def describe(failing: Sequence[Failure]) -> str:
    """Name the clients by what they do: `error in a2a-go 2.3.1; no event, no error in a2a-js 1.3.0`."""
    named: dict[Effect, list[str]] = {}
    for failure in failing:
        limit = f" ({failure.described_limit})" if failure.limit else ""
        named.setdefault(failure.effect, []).append(f"{failure.client}{limit}")
    return "; ".join(f"{effect} in {', '.join(clients)}" for effect, clients in named.items())
