"""A request as text: first line, headers, an empty line, the body; `send --request` sends it."""

from __future__ import annotations

from inspector.session.compose.raw_request import write_text

write = write_text
