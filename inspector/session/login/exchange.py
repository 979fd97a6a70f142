"""The HTTP requests of a login: each is recorded with masked secrets, and judged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from inspector.capture.records import LOGIN, Kind, Record
from inspector.findings.authorization.facts import LoginFacts
from inspector.findings.finding import Finding
from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.http_status import REDIRECTING
from inspector.protocol.model import Json
from inspector.protocol.oauth import SECRET_MEMBERS, OAuthError, json_object, read_error, token_claims
from inspector.session.card_fetch import DocumentFetch
from inspector.session.journal import Journal
from inspector.session.login.state import Step
from inspector.text.sanitise import clean
from inspector.wire.client.credentials import origin
from inspector.wire.client.http import Client
from inspector.wire.client.observations import Body, Frames
from inspector.wire.private_address import nearer_address

OPERATION = "Login"
"""The name of the operation in the records of logins."""

_FORM = "application/x-www-form-urlencoded"
_SECONDS = 30.0
"""How long a request of a login waits for the complete response."""
_SHORTEST_SECRET = 8
"""A server chooses its tokens: shorter tokens are masked by their location only, so that no common word is masked."""
_QUOTED = 120
_TEMPORARY = frozenset({"server_error", "temporarily_unavailable"})
"""The errors that are not about the request (RFC 6749 section 4.1.2.1)."""

_HINTS = {
    "invalid_client": "Check the client id and the client secret.",
    "invalid_grant": "Log in again.",
    "invalid_scope": "Ask for scopes that the authorization server knows.",
    "unauthorized_client": "Allow this flow for the client at the authorization server, or choose another flow.",
    "unsupported_grant_type": "The authorization server does not offer this flow: choose another flow.",
    "access_denied": "Log in again and allow the access.",
    "expired_token": "The device code has expired: log in again.",
}


@dataclass(slots=True)
class LoginFetch(DocumentFetch):
    """One request of a login; `answer` is the JSON object of the response, None without; it contains secrets."""

    step: Step
    judge: Callable[[LoginFetch, Mapping[str, Json] | None], tuple[Finding, ...]]
    answer: Mapping[str, Json] | None = field(default=None, init=False, repr=False)
    raw: bytes = field(default=b"", init=False, repr=False)

    @property
    def mark(self) -> Mapping[str, Json]:
        """Return the member of `meta` that marks the records of a login."""
        return {LOGIN: self.step.value}

    def take_frames(self, seen: Frames) -> list[Record]:
        """Append the frames of a stream, which is not a response of an authorization server."""
        raws = [frame.raw for frame in seen.frames]
        return self.append_payloads(Kind.FRAME, seen.at, raws, "unreadable", "a stream of events")

    def take_body(self, body: Body) -> list[Record]:
        """Mask the secrets of a response from now on, append the body, and judge it."""
        self.raw, self.answer = body.raw, json_object(body.raw)
        redactor = self.journal.redactor
        for name in SECRET_MEMBERS if self.answer else ():
            mask_secret(self.journal, (self.answer or {}).get(name))
        masked = redactor.body(body.raw)
        findings = self.judge(self, json_object(masked))
        error = read_error(json_object(masked))
        label = error.in_words if error else ""
        payloads = [(len(body.raw), masked)]
        return self.append(Kind.BODY, body.at, label=label, payloads=payloads, findings=findings)


def mask_secret(journal: Journal, value: Json) -> None:
    """Mask a secret that a server has chosen from now on."""
    if isinstance(value, str) and len(value) >= _SHORTEST_SECRET:
        journal.redactor.add(value)


class UntrustedServerError(FaultError):
    """Raised if a login leads to a server that has to be trusted; `origin` is its origin, `seen` is why."""

    def __init__(self, place: str, seen: str, why: str) -> None:
        hint = f"{why} If you trust it: --trust {place}."
        super().__init__(Fault(Whose.AGENT, FaultCode.AUTH_FAILED, seen, hint))
        self.origin = place


class RefusedError(FaultError):
    """Raised if the authorization server answered with an OAuth error, so that the same request cannot succeed."""


class LoginChannel:
    """Sends the requests of one login, and records what happens elsewhere; everything is judged.

    `metadata` is the document of the authorization server, once it was fetched. `trusted` are the origins that may have
    any address.
    """

    def __init__(
        self,
        journal: Journal,
        client: Client,
        *,
        grant: str = "",
        scheme: Mapping[str, Json] | None = None,
        scopes: tuple[str, ...] = (),
        agent: str = "",
        trusted: frozenset[str] = frozenset(),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.journal = journal
        self.clock = clock
        self.metadata: Mapping[str, Json] | None = None
        self._client = client
        self._agent = agent
        self.trusted = trusted
        self._about: dict[str, Any] = {"grant": grant, "scheme": scheme or {}, "scopes": scopes, "agent": agent}

    async def check_reach(self, url: str) -> None:
        """Raise `UntrustedServerError` if fewer machines can reach a URL than the agent, unless it is trusted."""
        place = origin(url)
        if place not in self.trusted and (address := await nearer_address(url, self._agent)):
            shown = place if address in place else f"{place} ({address})"
            seen = f"The login leads to {shown}, which fewer machines can reach than the agent. Nothing was sent there."
            raise UntrustedServerError(place, seen, "With such a URL, an agent can reach servers that are not public.")

    async def get(self, step: Step, url: str, *, issuer: str = "") -> LoginFetch:
        """Fetch a document; raises `FaultError` if there is no response."""
        return await self._send(step, HttpRequest("GET", url, {"Accept": "application/json"}), {}, issuer)

    async def post(
        self, step: Step, url: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None
    ) -> LoginFetch:
        """Post a form; raises `FaultError` if there is no response."""
        sent = {"Content-Type": _FORM, "Accept": "application/json", **(headers or {})}
        return await self._send(step, HttpRequest("POST", url, sent, urlencode(form).encode("ascii")), form)

    async def _send(self, step: Step, request: HttpRequest, form: Mapping[str, str], issuer: str = "") -> LoginFetch:
        await self.check_reach(request.url)
        text = self.journal.redactor.text
        parameters = {name: text(value) for name, value in form.items()}

        def judge(fetch: LoginFetch, answer: Mapping[str, Json] | None) -> tuple[Finding, ...]:
            head = fetch.head
            facts = LoginFacts(
                step.value,
                url=self.journal.redactor.url(request.url),
                parameters=parameters,
                status=fetch.status,
                headers=self.journal.redactor.headers(head.headers) if head else (),
                at=head.at if head else self.clock(),
                answer=answer,
                access_claims=token_claims(fetch.answer, "access_token"),
                id_claims=token_claims(fetch.answer, "id_token"),
                metadata=self.metadata,
                issuer=issuer,
                **self._about,
            )
            return self.journal.checker.login(facts)

        fetch = LoginFetch(self.journal, OPERATION, request.url, step, judge)
        try:
            async with asyncio.timeout(_SECONDS):
                await fetch.run(self._client, request)
        except TimeoutError as error:
            seen = f"{step.in_words}: there was no complete response within {_SECONDS:.0f} s."
            hint = "Check the log of the authorization server, and its URL on the card of the agent."
            raise FaultError(Fault(Whose.NETWORK, FaultCode.TIMEOUT, seen, hint)) from error
        if fetch.fault is not None:
            hint = fetch.fault.hint.replace("the agent", "the authorization server")  # the hints are about agents
            raise FaultError(replace(fetch.fault, seen=f"{step.in_words}: {fetch.fault.seen}", hint=hint))
        return fetch

    def note(
        self, step: Step, label: str, url: str, parameters: Mapping[str, str], **facts: Any
    ) -> tuple[Finding, ...]:
        """Record a step without a request from here: the URL for the browser, or the redirect; return the findings.

        `facts` are members of `LoginFacts`.
        """
        redactor = self.journal.redactor
        shown = {name: redactor.text(value) for name, value in parameters.items()}
        about = LoginFacts(
            step.value,
            url=redactor.url(url),
            parameters=shown,
            at=self.clock(),
            metadata=self.metadata,
            **{**self._about, **facts},
        )
        findings = self.journal.checker.login(about)
        meta = {LOGIN: step.value, "url": redactor.url(url), "parameters": shown}
        self.journal.append(Kind.NOTE, self.clock(), label=label, event=LOGIN, meta=meta, findings=findings)
        self.journal.notify()
        return findings


def refusal(fetch: LoginFetch, what: str) -> FaultError:
    """Return the error for a response that is not the expected one; `what` names what was requested."""
    text = fetch.journal.redactor.text
    error = read_error(fetch.answer)
    if is_temporary(fetch, error):
        reason = f" ({text(error.in_words)[:_QUOTED]})" if error else ""
        seen = f"The authorization server could not answer the request for {what}: status {fetch.status}{reason}."
        hint = f"Try again later, or check the log of the server at {fetch.journal.redactor.url(fetch.url)}."
        return FaultError(Fault(Whose.NETWORK, FaultCode.UNREACHABLE, seen, hint))
    if error is not None:
        seen = f"The authorization server refused {what}: {text(error.in_words)[:_QUOTED]}."
        hint = _HINTS.get(error.code, "Check the registration of the client at the authorization server.")
        return RefusedError(Fault(Whose.YOURS, FaultCode.AUTH_FAILED, seen, hint))
    if fetch.status in REDIRECTING:
        location = text(fetch.head.header("location") if fetch.head else "")
        seen = f"The authorization server answered the request for {what} with a redirect to {location or 'nowhere'}."
        hint = "Redirects are not followed with credentials: correct the URL on the card or in the metadata."
        return FaultError(Fault(Whose.AGENT, FaultCode.AUTH_FAILED, seen, hint))
    if fetch.status != 200:
        seen = f"The authorization server answered the request for {what} with status {fetch.status}."
        hint = f"Check that {fetch.journal.redactor.url(fetch.url)} is the right URL."
        return FaultError(Fault(Whose.AGENT, FaultCode.AUTH_FAILED, seen, hint))
    kind = f", but {clean(fetch.content_type, limit=_QUOTED)}" if "json" not in fetch.content_type else ""
    seen = f"The response of the authorization server to the request for {what} is not a JSON object{kind}."
    return invalid(seen, f"Check that {fetch.journal.redactor.url(fetch.url)} is the right URL.")


def is_temporary(fetch: LoginFetch, error: OAuthError | None) -> bool:
    """Return whether the server may answer the same request later: it is busy, it failed, or a gateway answered.

    An error that the hints name is about the request, whatever its status is.
    """
    code = error.code if error else ""
    is_busy = fetch.status == HTTPStatus.TOO_MANY_REQUESTS or fetch.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return code in _TEMPORARY or (is_busy and code not in _HINTS)


def invalid(seen: str, hint: str = "Check the log of the authorization server.") -> FaultError:
    """Return the error for a response of the authorization server that violates the protocol."""
    return FaultError(Fault(Whose.AGENT, FaultCode.AUTH_FAILED, seen, hint))
