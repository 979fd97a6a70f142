"""Send spans to the OTLP endpoint that the user names, for `export --otlp-endpoint`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

import httpx

from inspector.cli.errors import usage
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import parse
from inspector.session.exporters.otlp import request_of, spans
from inspector.session.exporters.selection import Selection

_SPANS = 200
"""How many spans a request has at most."""
_SECONDS = 30.0
_PATH = "/v1/traces"
_MOST_QUOTED = 200


class Sent(NamedTuple):
    """How many spans were sent, how many of them the endpoint rejected, and the last reason."""

    spans: int = 0
    rejected: int = 0
    reason: str = ""


def send_spans(selection: Selection, url: str, headers: Sequence[tuple[str, str]]) -> Sent:
    """Send the spans of the chosen calls; redirects are not followed.

    Raises `FaultError` if the endpoint cannot be reached or refuses a request.
    """
    target, done = _target(url), Sent()
    waiting = iter(spans(selection))
    with httpx.Client(timeout=_SECONDS, headers=[*headers, ("Content-Type", "application/json")]) as client:
        while batch := list(islice(waiting, _SPANS)):
            rejected, reason = _post(client, target, request_of(batch))
            done = Sent(done.spans + len(batch), done.rejected + rejected, reason or done.reason)
    return done


def _target(url: str) -> str:
    """Return the URL for traces: that of the user, with the path of OTLP if it has none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise usage("The URL of the OTLP endpoint is not valid.", "Example: http://localhost:4318") from None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise usage("The OTLP endpoint is not an http or https URL.", "Example: http://localhost:4318")
    return urlunsplit(parts._replace(path=_PATH)) if parts.path in ("", "/") else url


def _post(client: httpx.Client, url: str, body: str) -> tuple[int, str]:
    """Send a request; return how many spans were rejected, and the reason."""
    try:
        response = client.post(url, content=body.encode())
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        seen = f"The OTLP endpoint cannot be reached: {str(error) or type(error).__name__}."
        raise FaultError(Fault(Whose.NETWORK, FaultCode.UNREACHABLE, seen, "Check the URL.")) from error
    if not response.is_success:
        text = " ".join(response.text[:_MOST_QUOTED].split())
        seen = f"The OTLP endpoint answered with status {response.status_code}: {text or 'no text'}."
        hint = "Check the URL and --otlp-header. The endpoint must accept OTLP/HTTP with JSON."
        raise FaultError(Fault(Whose.NETWORK, FaultCode.INTERNAL, seen, hint))
    answer = parse(response.content)
    partial = answer.get("partialSuccess") if isinstance(answer, dict) else None
    if not isinstance(partial, dict):
        return 0, ""
    rejected = str(partial.get("rejectedSpans") or 0)
    return int(rejected) if rejected.isdigit() else 0, str(partial.get("errorMessage") or "")
