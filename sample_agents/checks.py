"""Check the parameters of calls beyond their types. Each check raises `CallError` with a message for the client."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from urllib.parse import urlsplit

from inspector.protocol.lifecycle import State
from inspector.protocol.model import Message, Part, PushConfig

from .errors import CallError, bad_params
from .versions import Version

MAX_PAGE = 100
DEFAULT_PAGE = 50
_ROLES = ("ROLE_USER", "ROLE_AGENT")


def check_version(version: Version, requested: str) -> None:
    """Reject a request for another protocol version, or without a version if the header is required."""
    if not version.accepts(requested):
        sent = f"is {requested[:20]!r}" if requested else "is missing"
        raise CallError(
            "VersionNotSupportedError",
            f"{version.version_header} {sent}; this endpoint requires {version.declared}.",
        )


def check_message(message: Message) -> None:
    """Reject a message without id, known role or parts, or with a part that has not exactly one content."""
    if not message.message_id:
        raise bad_params("message.messageId is missing.")
    if message.role not in _ROLES:
        raise bad_params("message.role is missing or unknown.")
    if not message.parts:
        raise bad_params("message.parts is empty; at least one part is required.")
    for index, part in enumerate(message.parts):
        _check_part(part, f"message.parts[{index}]")


def _check_part(part: Part, where: str) -> None:
    contents = [name for name in ("text", "raw", "url") if getattr(part, name) is not None]
    if "data" in part.model_fields_set and (part.data is not None or not contents):
        contents.append("data")
    if len(contents) != 1:
        raise bad_params(
            f"{where} has {', '.join(contents) or 'no content'}; exactly one of text, raw, url and data is required."
        )
    if part.raw is not None:
        try:
            digits = part.raw.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
            base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True)
        except (binascii.Error, ValueError) as error:
            raise bad_params(f"{where}: the bytes are not valid base64.") from error


def check_history_length(history_length: int | None) -> None:
    """Reject a negative history length."""
    if history_length is not None and history_length < 0:
        raise bad_params("historyLength must not be negative.")


def check_push_config(config: PushConfig) -> None:
    """Reject a webhook URL that is not http or https, and credentials that a header cannot contain."""
    try:
        url = urlsplit(config.url)
        good = url.scheme in ("http", "https") and bool(url.hostname) and (url.port is None or url.port > 0)
    except ValueError:
        good = False
    if not good or not config.url.isprintable() or " " in config.url:
        raise bad_params("The url of the push configuration must be an http or https URL.")
    authentication = config.authentication
    if authentication and authentication.credentials and not authentication.scheme:
        raise bad_params("The credentials of the push configuration have no scheme, so that they cannot be sent.")
    secrets = [config.token] + ([authentication.scheme, authentication.credentials] if authentication else [])
    if not all(secret.isascii() and secret.isprintable() for secret in secrets if secret):
        raise bad_params(
            "The token and credentials of the push configuration must be printable ASCII, as they are sent in headers."
        )


def check_page_size(page_size: int | None) -> int:
    """Return the number of entries on a page, from 1 to 100."""
    if page_size is not None and not 1 <= page_size <= MAX_PAGE:
        raise bad_params(f"pageSize must be between 1 and {MAX_PAGE}.")
    return page_size or DEFAULT_PAGE


def check_state(state: str | None) -> str | None:
    """Return the task state to filter by, None for every state."""
    if state and state not in tuple(State):
        raise bad_params("status is not a task state.")
    return None if state == State.UNSPECIFIED else state or None


def check_moment(text: str | None) -> datetime | None:
    """Parse an ISO 8601 time; without a time zone it is UTC."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise bad_params("statusTimestampAfter is not a valid ISO 8601 time.") from error
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def write_page_token(sequence: int) -> str:
    """Return the token for the next page; `sequence` is the sequence number of the last task before it."""
    return base64.urlsafe_b64encode(str(sequence).encode()).decode().rstrip("=")


def read_page_token(token: str | None) -> int | None:
    """Return the sequence number that a page token contains, None for the first page."""
    if not token:
        return None
    try:
        digits = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode("ascii")
    except (binascii.Error, ValueError) as error:
        raise bad_params("pageToken was not issued by this agent.") from error
    if not digits.isdigit() or len(digits) > 20:
        raise bad_params("pageToken was not issued by this agent.")
    return int(digits)
