"""TLS of the agent: its certificate, and the authority for client certificates."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json

if TYPE_CHECKING:
    import grpc

_SCHEME = "client_certificate"


@dataclass(frozen=True, slots=True)
class Tls:
    """A certificate chain and its key as PEM files; with `client_ca`, clients need a certificate signed by that CA."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Return the SSL context for HTTP; raises OSError if a file cannot be read, or has no certificate or key."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.client_ca)
        # Without a password, OpenSSL would ask for that of an encrypted key at the terminal.
        context.load_cert_chain(self.certificate, self.key, password="")
        if self.client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def credentials(self) -> grpc.ServerCredentials:
        """Return the credentials for the gRPC server; raises OSError if a file is missing."""
        import grpc  # noqa: PLC0415 - slow to load and rarely used

        return grpc.ssl_server_credentials(
            [(self.key.read_bytes(), self.certificate.read_bytes())],
            root_certificates=None if self.client_ca is None else self.client_ca.read_bytes(),
            require_client_auth=self.client_ca is not None,
        )

    def add_to_card(self, card: AgentCard) -> AgentCard:
        """Return the card with the security scheme for client certificates if they are required."""
        if self.client_ca is None:
            return card
        schemes: dict[str, dict[str, Json]] = {
            **(card.security_schemes or {}),
            _SCHEME: {
                "mtlsSecurityScheme": {
                    "description": "A client certificate that the authority of the agent has signed."
                }
            },
        }
        skills = [
            skill.model_copy(update={"security_requirements": _with_certificate(skill.security_requirements)})
            if skill.security_requirements
            else skill
            for skill in card.skills
        ]
        requirements = _with_certificate(card.security_requirements or [{}])
        update = {"security_schemes": schemes, "security_requirements": requirements, "skills": skills}
        return card.model_copy(update=update)


def _with_certificate(requirements: Sequence[Mapping[str, Json]]) -> list[Json]:
    """Add the client certificate to each alternative of the security requirements."""
    required: dict[str, Json] = {_SCHEME: {"list": []}}
    return [{"schemes": {**choice.get("schemes", {}), **required}} for choice in requirements]
