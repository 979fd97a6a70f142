"""Examples of the steps of a login, which document and test the rules about authorization.

An example has the members of `LoginFacts`: a step with its answer.
"""

from __future__ import annotations

from inspector.protocol.model import Json

SERVER = "https://login.example.com"
AGENT = "https://agent.example.com/a2a"
NOW = 1_767_225_600.0
"""The time of the examples: 2026-01-01 00:00:00 UTC."""
DATE = "Thu, 01 Jan 2026 00:00:00 GMT"
CODE, DEVICE, CREDENTIALS = "authorizationCode", "deviceCode", "clientCredentials"

METADATA: dict[str, Json] = {
    "issuer": SERVER,
    "authorization_endpoint": f"{SERVER}/authorize",
    "token_endpoint": f"{SERVER}/token",
    "response_types_supported": ["code"],
    "grant_types_supported": ["authorization_code", "refresh_token"],
    "code_challenge_methods_supported": ["S256"],
}
_FLOW: dict[str, Json] = {
    "authorizationUrl": f"{SERVER}/authorize",
    "tokenUrl": f"{SERVER}/token",
    "scopes": {"translate": "Translate texts"},
}
_TOKEN: dict[str, Json] = {"access_token": "****", "token_type": "Bearer", "expires_in": 3600}
_DEVICE: dict[str, Json] = {
    "device_code": "****",
    "user_code": "WDJB-MJHT",
    "verification_uri": f"{SERVER}/device",
    "expires_in": 900,
}


def scheme(**changes: Json) -> Json:
    """Return an OAuth 2.0 scheme whose flow has some members changed."""
    inside = {
        "flows": {CODE: {**_FLOW, **changes}},
        "oauth2MetadataUrl": f"{SERVER}/.well-known/oauth-authorization-server",
    }
    return {"oauth2SecurityScheme": inside}


def step(name: str, answer: Json = None, **members: Json) -> Json:
    """Return the step of a login with its answer; `members` are other members of `LoginFacts`."""
    return {"step": name, "grant": CODE, "status": 200, "at": NOW, "answer": answer, **members}


def metadata(**changes: Json) -> Json:
    """Return a login that fetches the metadata, with some members changed; None removes a member."""
    url = f"{SERVER}/.well-known/oauth-authorization-server"
    return step("metadata", _changed(METADATA, changes), url=url, scheme=scheme())


def token(members: Json = None, **facts: Json) -> Json:
    """Return a login that gets a token, with some members of the response changed; None removes a member.

    `facts` are other members of `LoginFacts`, such as another `answer`.
    """
    head = [["Cache-Control", "no-store"], ["Date", DATE]]
    usual = {"answer": _changed(_TOKEN, members or {}), "headers": head, "scopes": ["translate"], "agent": AGENT}
    return step("token", **{**usual, **facts})


def device(**changes: Json) -> Json:
    """Return a login that gets a device code, with some members of the response changed; None removes a member."""
    return step("device", _changed(_DEVICE, changes), grant=DEVICE)


def redirect(**facts: Json) -> Json:
    """Return a login whose redirect arrives, with other members of `LoginFacts`."""
    return step(
        "redirect", status=0, **{"parameters": {"code": "****", "state": "****"}, "state_matches": True, **facts}
    )


def resource(**changes: Json) -> Json:
    """Return a login that fetches the metadata of the agent, with some members changed."""
    document: dict[str, Json] = {"resource": AGENT, "authorization_servers": [SERVER]}
    return step("resource", _changed(document, changes), agent=AGENT, scheme=scheme(), metadata=METADATA)


def _changed(value: dict[str, Json], changes: dict[str, Json]) -> Json:
    return {name: member for name, member in {**value, **changes}.items() if member is not None}
