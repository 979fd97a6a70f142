"""Read the message of a recorded request, to send it again."""

from __future__ import annotations

import uuid

from inspector.capture.records import Record
from inspector.protocol.errors import usage_error
from inspector.protocol.model import SendRequest
from inspector.session.compose.raw_request import RAW_REQUEST
from inspector.session.replay.translate import sent_message


def message_to_resend(request: Record) -> SendRequest:
    """Return the message of a request with a new id; raises `FaultError` if the request contains no message."""
    if RAW_REQUEST in (request.meta.get("deliberate") or ()):
        seen = f"Record #{request.seq} is a raw request, which cannot be sent again as a message."
        raise usage_error(seen, "Copy it as a curl command instead.")
    earlier = sent_message(request)
    if earlier is None:
        seen = f"Record #{request.seq} does not contain a message that can be sent again."
        raise usage_error(seen, "Select a sent message or its response.")
    message = earlier.message.model_copy(update={"message_id": str(uuid.uuid4())})
    return earlier.model_copy(update={"message": message})
