"""The documents that describe the authorization server: RFC 8414, OpenID Connect Discovery and RFC 9728."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.protocol.model import Json

from .tokens import ALGORITHM

TOKEN_PATH = "/oauth/token"  # noqa: S105 - a path
SECOND_TOKEN_PATH = "/oauth/v2/token"  # noqa: S105 - a path
"""A second path of the token endpoint, for metadata that contradicts the card."""
AUTHORIZE_PATH = "/oauth/authorize"
DEVICE_PATH = "/oauth/device"
VERIFICATION_PATH = "/oauth/verify"
REVOCATION_PATH = "/oauth/revoke"
KEYS_PATH = "/oauth/jwks"
SERVER_METADATA_PATH = "/.well-known/oauth-authorization-server"
DISCOVERY_PATH = "/.well-known/openid-configuration"
RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource"

AUTHORIZATION_CODE = "authorization_code"
CLIENT_CREDENTIALS = "client_credentials"
REFRESH_TOKEN = "refresh_token"  # noqa: S105 - the name of a grant
DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
PKCE_METHOD = "S256"


def server_metadata(issuer: str, scopes: Sequence[str]) -> dict[str, Json]:
    """Return the metadata of the authorization server (RFC 8414 section 2)."""
    methods: list[Json] = ["client_secret_basic", "client_secret_post", "none"]
    return {
        "issuer": issuer,
        "authorization_endpoint": issuer + AUTHORIZE_PATH,
        "token_endpoint": issuer + TOKEN_PATH,
        "device_authorization_endpoint": issuer + DEVICE_PATH,
        "revocation_endpoint": issuer + REVOCATION_PATH,
        "jwks_uri": issuer + KEYS_PATH,
        "scopes_supported": list(scopes),
        "response_types_supported": ["code"],
        "grant_types_supported": [AUTHORIZATION_CODE, CLIENT_CREDENTIALS, REFRESH_TOKEN, DEVICE_CODE],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "code_challenge_methods_supported": [PKCE_METHOD],
        "authorization_response_iss_parameter_supported": True,
    }


def discovery_document(issuer: str, scopes: Sequence[str]) -> dict[str, Json]:
    """Return the discovery document (OpenID Connect Discovery section 3)."""
    return server_metadata(issuer, scopes) | {
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
        "claims_supported": ["iss", "aud", "sub", "iat", "exp", "auth_time", "nonce"],
    }


def resource_metadata(resource: str, issuer: str, scopes: Sequence[str]) -> dict[str, Json]:
    """Return the metadata of the agent as a protected resource (RFC 9728 section 2)."""
    return {
        "resource": resource,
        "authorization_servers": [issuer],
        "scopes_supported": list(scopes),
        "bearer_methods_supported": ["header"],
    }
