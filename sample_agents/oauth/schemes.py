"""The security schemes on the card that describe the authorization server (1.0 sections 4.5.4 and 4.5.5)."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.protocol.model import Json

from .metadata import AUTHORIZE_PATH, DEVICE_PATH, DISCOVERY_PATH, SERVER_METADATA_PATH, TOKEN_PATH

BASE_SCOPE = "messages"
"""The scope that every call needs."""


def oauth2_schemes(base: str, scopes: Sequence[str], *, since_1_0: bool) -> dict[str, dict[str, Json]]:
    """Return a scheme for each flow; `base` is the origin of the agent.

    Cards have the device code flow and `pkceRequired` since 1.0.
    """
    words = {scope: f"Use skills that need {scope}." for scope in scopes} | {BASE_SCOPE: "Call the agent."}
    client: dict[str, Json] = {"tokenUrl": base + TOKEN_PATH, "scopes": words}
    token = {**client, "refreshUrl": base + TOKEN_PATH}
    code = {"authorizationUrl": base + AUTHORIZE_PATH, **token}
    flows: dict[str, dict[str, Json]] = {"oauth2": {"clientCredentials": client}}
    if since_1_0:
        flows["oauth2_code"] = {"authorizationCode": {**code, "pkceRequired": True}}
        flows["oauth2_device"] = {"deviceCode": {"deviceAuthorizationUrl": base + DEVICE_PATH, **token}}
    else:
        flows["oauth2_code"] = {"authorizationCode": code}
    metadata_url = base + SERVER_METADATA_PATH
    return {
        name: {"oauth2SecurityScheme": {"flows": flow, "oauth2MetadataUrl": metadata_url}}
        for name, flow in flows.items()
    }


def openid_schemes(base: str) -> dict[str, dict[str, Json]]:
    """Return the scheme for OpenID Connect; `base` is the origin of the agent."""
    return {"oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": base + DISCOVERY_PATH}}}
