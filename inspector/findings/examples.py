"""Examples of exchanges: what the rules about streams, answers and transports are explained with, and tested by.

An example says how the agent answered a call: `events` are the results of a stream, each in an event of its own, an
error under its only member `error`; `result` is that of a call that was answered without a stream; `payload` is what
came without an envelope put around it, `text` what came as it is, `sse` what came in a stream as it is, behind the
events. Where nothing else is said the call is SendStreamingMessage (`operation`) over JSON-RPC (`binding`) with the id
"the-id", in the newest generation that the rule holds for; the response has the status 200 (`status`) and the media
type that is due (`type`). `asked` has the members of the request that matter, as 1.0 spells them; `end` says that the
connection broke ("cut"), or that we stopped listening to the open stream after so many seconds.
"""

from __future__ import annotations

from inspector.protocol.model import Json


def stream(*events: Json, **more: Json) -> Json:
    """Return the example of a stream."""
    return {"events": [*events], **more}


def answer(result: Json, operation: str = "SendMessage", **more: Json) -> Json:
    """Return the example of an answer that is one result."""
    return {"operation": operation, "result": result, **more}


def response(payload: Json, **more: Json) -> Json:
    """Return the example of an answer that is one payload, in no envelope but its own."""
    return {"operation": "SendMessage", "payload": payload, **more}
