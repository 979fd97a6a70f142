"""The 0.3 agent with authentication: `protected_v0_3.py ISSUER` accepts the tokens of this authorization server."""

from __future__ import annotations

import sys

import grpc
import httpx
from a2a.types import (
    AgentCard,
    APIKeySecurityScheme,
    AuthorizationCodeOAuthFlow,
    ClientCredentialsOAuthFlow,
    In,
    OAuth2SecurityScheme,
    OAuthFlows,
    OpenIdConnectSecurityScheme,
    SecurityScheme,
)
from agent_v0_3 import application
from protection import METADATA, SCOPE, protect
from serving import serve
from starlette.applications import Starlette


def secure(card: AgentCard, issuer: str) -> None:
    """Add the security schemes to a card: each of them is enough. They are for HTTP only."""
    endpoints = httpx.get(issuer + METADATA, trust_env=False).raise_for_status().json()
    authorize, token = endpoints["authorization_endpoint"], endpoints["token_endpoint"]
    scopes = {SCOPE: "Call the agent."}
    # A single scheme with two flows, as in OpenAPI.
    flows = OAuthFlows(
        authorization_code=AuthorizationCodeOAuthFlow(authorization_url=authorize, token_url=token, scopes=scopes),
        client_credentials=ClientCredentialsOAuthFlow(token_url=token, scopes=scopes),
    )
    metadata_url = issuer + "/.well-known/oauth-authorization-server"
    card.security_schemes = {
        "oauth": SecurityScheme(root=OAuth2SecurityScheme(flows=flows, oauth2_metadata_url=metadata_url)),
        "openid": SecurityScheme(root=OpenIdConnectSecurityScheme(open_id_connect_url=issuer + METADATA)),
        "key": SecurityScheme(root=APIKeySecurityScheme(in_=In.header, name="X-Interop-Key")),
    }
    card.security = [{"oauth": [SCOPE]}, {"openid": ["openid", SCOPE]}, {"key": []}]
    card.additional_interfaces = card.additional_interfaces[:1]


def protected(url: str, target: str, server: grpc.aio.Server) -> Starlette:
    """Create the agent; it requires credentials."""
    issuer = sys.argv[1]
    return protect(application(url, target, server, lambda card: secure(card, issuer)), issuer)


if __name__ == "__main__":
    serve(protected)
