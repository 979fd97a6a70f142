"""The 1.0 agent with authentication: `protected_v1.py ISSUER` accepts the tokens of this authorization server."""

from __future__ import annotations

import sys

import grpc
import httpx
from a2a.types import (
    AgentCard,
    APIKeySecurityScheme,
    AuthorizationCodeOAuthFlow,
    ClientCredentialsOAuthFlow,
    DeviceCodeOAuthFlow,
    OAuth2SecurityScheme,
    OAuthFlows,
    OpenIdConnectSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from agent_v1 import application
from protection import METADATA, SCOPE, protect
from serving import serve
from starlette.applications import Starlette


def secure(card: AgentCard, issuer: str) -> None:
    """Add the security schemes to a card: each of them is enough. They are for HTTP only."""
    endpoints = httpx.get(issuer + METADATA, trust_env=False).raise_for_status().json()
    authorize, token = endpoints["authorization_endpoint"], endpoints["token_endpoint"]
    device, scopes = endpoints["device_authorization_endpoint"], {SCOPE: "Call the agent."}
    code = AuthorizationCodeOAuthFlow(authorization_url=authorize, token_url=token, scopes=scopes, pkce_required=True)
    flows = {
        "code": OAuthFlows(authorization_code=code),
        "device": OAuthFlows(
            device_code=DeviceCodeOAuthFlow(device_authorization_url=device, token_url=token, scopes=scopes)
        ),
        "client": OAuthFlows(client_credentials=ClientCredentialsOAuthFlow(token_url=token, scopes=scopes)),
    }
    server = issuer + "/.well-known/oauth-authorization-server"
    for name, flow in flows.items():
        scheme = OAuth2SecurityScheme(flows=flow, oauth2_metadata_url=server)
        card.security_schemes[name].CopyFrom(SecurityScheme(oauth2_security_scheme=scheme))
    openid = OpenIdConnectSecurityScheme(open_id_connect_url=issuer + METADATA)
    card.security_schemes["openid"].CopyFrom(SecurityScheme(open_id_connect_security_scheme=openid))
    key = APIKeySecurityScheme(location="header", name="X-Interop-Key")
    card.security_schemes["key"].CopyFrom(SecurityScheme(api_key_security_scheme=key))
    needed = {name: [SCOPE] for name in flows} | {"openid": ["openid", SCOPE], "key": []}
    for name, listed in needed.items():
        card.security_requirements.append(SecurityRequirement(schemes={name: StringList(list=listed)}))
    del card.supported_interfaces[2:]


def protected(url: str, target: str, server: grpc.aio.Server) -> Starlette:
    """Create the agent; it requires credentials."""
    issuer = sys.argv[1]
    return protect(application(url, target, server, lambda card: secure(card, issuer)), issuer)


if __name__ == "__main__":
    serve(protected)
