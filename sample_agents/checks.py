"""What the agent asks of its callers' parameters beyond their types; whatever fails is refused in words."""

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
    """Refuse a request with another version than this one, or without one where it is required."""
    if not version.takes(requested):
        said = f"the request says {requested[:20]}" if requested else "the request says none"
        raise CallError(
            "VersionNotSupportedError",
            f"A2A {version.name} is spoken here, with {version.version_header}: {version.declared}; {said}.",
        )


def check_message(message: Message) -> None:
    """Refuse a message without an id, a known role, or parts that each carry exactly one content."""
    if not message.message_id:
        raise bad_params("message.messageId is missing.")
    if message.role not in _ROLES:
        raise bad_params("message.role is missing or unknown.")
    if not message.parts:
        raise bad_params("message.parts is empty: a message has at least one part.")
    for index, part in enumerate(message.parts):
        _check_part(part, f"message.parts[{index}]")


def _check_part(part: Part, where: str) -> None:
    contents = [name for name in ("text", "raw", "url") if getattr(part, name) is not None]
    if "data" in part.model_fields_set and (part.data is not None or not contents):
        contents.append("data")
    if len(contents) != 1:
        raise bad_params(f"{where} has {', '.join(contents) or 'no content'}: a part carries exactly one content.")
    if part.raw is not None:
        try:
            digits = part.raw.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
            base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True)
        except (binascii.Error, ValueError) as error:
            raise bad_params(f"{where} holds bytes that are not base64.") from error


def check_history_length(history_length: int | None) -> None:
    """Refuse a negative history length."""
    if history_length is not None and history_length < 0:
        raise bad_params("historyLength is negative.")


def check_push_config(config: PushConfig) -> None:
    """Refuse a webhook that is no http(s) URL, and secrets that cannot stand in a header."""
    try:
        url = urlsplit(config.url)
        good = url.scheme in ("http", "https") and bool(url.hostname) and (url.port is None or url.port > 0)
    except ValueError:
        good = False
    if not good or not config.url.isprintable() or " " in config.url:
        raise bad_params("The push configuration's url is not an http or https URL.")
    authentication = config.authentication
    secrets = [config.token] + ([authentication.scheme, authentication.credentials] if authentication else [])
    if not all(secret.isascii() and secret.isprintable() for secret in secrets if secret):
        raise bad_params("The push configuration's token and credentials go into headers: visible ASCII only.")


def check_page_size(page_size: int | None) -> int:
    """Return how many entries a page has, from 1 to 100."""
    if page_size is not None and not 1 <= page_size <= MAX_PAGE:
        raise bad_params(f"pageSize is not between 1 and {MAX_PAGE}.")
    return page_size or DEFAULT_PAGE


def check_state(state: str | None) -> str | None:
    """Return the state to filter by, or None for every state."""
    if state and state not in tuple(State):
        raise bad_params("status is not a task state.")
    return None if state == State.UNSPECIFIED else state or None


def check_moment(text: str | None) -> datetime | None:
    """Return a time written in ISO 8601; without a zone it is UTC."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise bad_params("statusTimestampAfter is not an ISO 8601 time.") from error
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def write_page_token(stamp: int) -> str:
    """Return the token of the page that follows a stamp."""
    return base64.urlsafe_b64encode(str(stamp).encode()).decode().rstrip("=")


def read_page_token(token: str | None) -> int | None:
    """Return the stamp that a page follows, or None for the first page."""
    if not token:
        return None
    try:
        digits = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode("ascii")
    except (binascii.Error, ValueError) as error:
        raise bad_params("pageToken is not one of ours.") from error
    if not digits.isdigit() or len(digits) > 20:
        raise bad_params("pageToken is not one of ours.")
    return int(digits)
