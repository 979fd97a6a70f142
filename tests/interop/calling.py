"""Call an agent with the encoders and decoders of the inspector, without the rest of the inspector."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from inspector.protocol import jsonvalue, sse
from inspector.protocol.bindings import jsonrpc
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.model import Event, Message, Part, SendConfiguration, SendRequest, Task, Unreadable
from inspector.protocol.operations import Operation

_NUMBERS = itertools.count(1)


@dataclass
class Caller:
    """A client that uses the encoders and decoders of the inspector."""

    url: str
    dialect: Dialect
    http: httpx.Client

    def post(self, operation, request):
        call = jsonrpc.BINDING.encode(self.url, self.dialect, operation, request, f"call-{next(_NUMBERS)}")
        answer = self.http.request(call.method, call.url, headers=call.headers, content=call.body)
        assert answer.status_code == 200, answer.text
        return answer

    def raw(self, operation, request):
        return self.post(operation, request).json()

    def call(self, operation, request):
        raw = jsonvalue.parse(self.post(operation, request).content)
        return readable(jsonrpc.BINDING.decode_answer(self.dialect, operation, 200, raw))

    def stream(self, request) -> list[Event]:
        answer = self.post(Operation.STREAM, request)
        assert answer.headers["content-type"].startswith(jsonrpc.EVENT_STREAM)
        frames = [frame for frame in sse.Decoder().feed(answer.content) if frame.data is not None]
        return [readable(jsonrpc.BINDING.decode_item(self.dialect, jsonvalue.parse(frame.data))) for frame in frames]

    @contextmanager
    def started(self, request) -> Iterator[Task]:
        """Keep the stream of a new task open and return the task from the first event."""
        call = jsonrpc.BINDING.encode(self.url, self.dialect, Operation.STREAM, request, f"call-{next(_NUMBERS)}")
        decoder = sse.Decoder()
        with self.http.stream(call.method, call.url, headers=call.headers, content=call.body) as answer:
            frames = (frame for chunk in answer.iter_bytes() for frame in decoder.feed(chunk) if frame.data is not None)
            task = readable(jsonrpc.BINDING.decode_item(self.dialect, jsonvalue.parse(next(frames).data)))
            assert isinstance(task, Task), task
            yield task


def readable(value):
    assert not isinstance(value, Unreadable), value
    return value


def send_request(text: str, task: Task | None = None, **configuration) -> SendRequest:
    ids = {"task_id": task.id, "context_id": task.context_id} if task else {}
    message = Message(message_id=f"message-{next(_NUMBERS)}", role="ROLE_USER", parts=[Part(text=text)], **ids)
    options = {"configuration": SendConfiguration(**configuration)} if configuration else {}
    return SendRequest(message=message, **options)


def texts(parts: list[Part]) -> str:
    return "".join(part.text or "" for part in parts)
