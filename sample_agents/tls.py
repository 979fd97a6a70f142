"""TLS of the agent: with which certificate it shows itself, and whose clients it admits."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json

if TYPE_CHECKING:
    import grpc

_SCHEME = "client_certificate"


@dataclass(frozen=True, slots=True)
class Tls:
    """A certificate chain and its key as PEM files; with `client_ca`, clients need a certificate that it has signed."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Return what a server of HTTP takes; raises OSError where a file is missing or holds no certificate."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.client_ca)
        context.load_cert_chain(self.certificate, self.key)
        if self.client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def credentials(self) -> grpc.ServerCredentials:
        """Return what a server of gRPC takes; raises OSError where a file is missing."""
        import grpc  # noqa: PLC0415 - takes long to load, and seldom wanted

        return grpc.ssl_server_credentials(
            [(self.key.read_bytes(), self.certificate.read_bytes())],
            root_certificates=None if self.client_ca is None else self.client_ca.read_bytes(),
            require_client_auth=self.client_ca is not None,
        )

    def on_card(self, card: AgentCard) -> AgentCard:
        """Return the card of an agent that says whether it takes a certificate to be admitted."""
        if self.client_ca is None:
            return card
        schemes: dict[str, dict[str, Json]] = {
            **(card.security_schemes or {}),
            _SCHEME: {"mtlsSecurityScheme": {"description": "A certificate that the agent's authority has signed."}},
        }
        named: dict[str, Json] = {_SCHEME: {"list": []}}
        choices = [{"schemes": {**one.get("schemes", {}), **named}} for one in card.security_requirements or [{}]]
        return card.model_copy(update={"security_schemes": schemes, "security_requirements": choices})
