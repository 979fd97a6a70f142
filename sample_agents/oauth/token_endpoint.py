"""The token endpoint (RFC 6749 sections 4.1.3, 4.4.2 and 6, RFC 7636 section 4.6, RFC 8628 section 3.4)."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping

from inspector.lazy_dataclass import dataclass

from ..faults.authorization import TokenRequest
from ..faults.fault import Level
from ..faults.fault_plan import FaultPlan
from ..secret_values import ExpiringValues, same
from .clients import Client
from .devices import Devices
from .metadata import AUTHORIZATION_CODE, CLIENT_CREDENTIALS, DEVICE_CODE, REFRESH_TOKEN
from .tokens import Grant, Outcome, Tokens

CODE_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Code:
    """The grant of an authorization code; without PKCE the `challenge` is empty."""

    grant: Grant
    redirect_uri: str
    challenge: str


@dataclass(frozen=True, slots=True)
class TokenEndpoint:
    """Check token requests. `scopes_of` returns the scopes for a request of scopes, None if one is unknown."""

    client: Client
    tokens: Tokens
    devices: Devices
    codes: ExpiringValues[Code]
    scopes_of: Callable[[str], tuple[str, ...] | None]
    faults: FaultPlan

    def grant(self, form: Mapping[str, str], authorization: str, resource: str) -> Outcome:
        """Return what a request is granted, or its error."""
        kind = form.get("grant_type", "")
        checks: dict[str, Callable[[Mapping[str, str]], Outcome]] = {
            AUTHORIZATION_CODE: self._code,
            DEVICE_CODE: self._device,
            REFRESH_TOKEN: self._refresh,
            CLIENT_CREDENTIALS: lambda form: self._client_credentials(form, resource),
        }
        if kind not in checks:
            return "unsupported_grant_type"
        if not self.client.is_valid(authorization, form, needs_secret=kind == CLIENT_CREDENTIALS):
            return "invalid_client"
        device = self.devices.find(form.get("device_code", ""))
        request = TokenRequest(kind, device.polls if device else 0)
        for fault in self.faults.at(Level.GRANT):
            if error := fault(request):
                if device:
                    device.polls += 1
                return str(error)
        return checks[kind](form)

    def _client_credentials(self, form: Mapping[str, str], resource: str) -> Outcome:
        scopes = self.scopes_of(form.get("scope", ""))
        if scopes is None:
            return "invalid_scope"
        client = self.client.client_id
        return Grant(client, client, scopes, resource, refreshable=False)  # RFC 6749 section 4.4.3

    def _code(self, form: Mapping[str, str]) -> Outcome:
        """A code can be used once, with its verifier and its redirect URI."""
        code = self.codes.pop(form.get("code", ""))
        if code is None or not same(form.get("redirect_uri", ""), code.redirect_uri):
            return "invalid_grant"
        if code.challenge and not same(pkce_challenge(form.get("code_verifier", "")), code.challenge):
            return "invalid_grant"
        return code.grant

    def _device(self, form: Mapping[str, str]) -> Outcome:
        code = form.get("device_code", "")
        device = self.devices.find(code)
        if device is None:
            return "expired_token"
        if error := device.poll():
            return error
        self.devices.finish(code)
        return device.grant

    def _refresh(self, form: Mapping[str, str]) -> Outcome:
        return self.tokens.refresh(form.get("refresh_token", ""), form.get("scope", "").split())


def pkce_challenge(verifier: str) -> str:
    """Return the S256 challenge for a verifier (RFC 7636 section 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
