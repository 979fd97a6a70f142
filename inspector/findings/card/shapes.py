"""The shape of a card in every protocol version: the members of its objects, their types, and which are required.

Sources: `specification/json/a2a.json` of 0.1.0, 0.2.6 and 0.3.0, `specification/a2a.proto` of 1.0.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.findings.shape import BOOLEAN, OBJECT, STRING, ArrayOf, Kind, MapOf, Shape, strings

_STRINGS = ArrayOf(STRING)
_SCOPES = MapOf(STRING)

_EXTENSION = Shape("extension", strings("uri", "description", required=BOOLEAN, params=OBJECT), required=("uri",))
_SIGNATURE = Shape("signature", strings("protected", "signature", header=OBJECT), required=("protected", "signature"))
_PROVIDER = Shape("provider", strings("organization", "url"), required=("organization", "url"))


def _flow(*urls: str, **more: Kind) -> Shape:
    return Shape("OAuth flow", strings(*urls, "refreshUrl", scopes=_SCOPES, **more), required=(*urls, "scopes"))


_FLOWS: dict[str, Kind] = {
    "authorizationCode": _flow("authorizationUrl", "tokenUrl"),
    "clientCredentials": _flow("tokenUrl"),
    "implicit": _flow("authorizationUrl"),
    "password": _flow("tokenUrl"),
}
_FLOWS_1_0 = _FLOWS | {
    "authorizationCode": _flow("authorizationUrl", "tokenUrl", pkceRequired=BOOLEAN),
    "deviceCode": _flow("deviceAuthorizationUrl", "tokenUrl"),
    # Deprecated, and without REQUIRED members in the proto.
    "implicit": Shape("OAuth flow", strings("authorizationUrl", "refreshUrl", scopes=_SCOPES)),
    "password": Shape("OAuth flow", strings("tokenUrl", "refreshUrl", scopes=_SCOPES)),
}


def _scheme(required: tuple[str, ...], *others: str, **more: Kind) -> Shape:
    return Shape("security scheme", strings("description", *required, *others, **more), required)


SCHEMES_BY_TYPE: Mapping[str, Shape] = {
    "apiKey": _scheme(("name", "in"), "type"),
    "http": _scheme(("scheme",), "type", "bearerFormat"),
    "oauth2": _scheme(("flows",), "type", "oauth2MetadataUrl", flows=Shape("OAuth flows", _FLOWS)),
    "openIdConnect": _scheme(("openIdConnectUrl",), "type"),
    "mutualTLS": _scheme((), "type"),
}
"""The security schemes of 0.2 and 0.3, by the value of their member `type`, as in OpenAPI."""

WRAPPED_SCHEMES: Mapping[str, Shape] = {
    "apiKeySecurityScheme": _scheme(("name", "location")),
    "httpAuthSecurityScheme": _scheme(("scheme",), "bearerFormat"),
    "oauth2SecurityScheme": _scheme(("flows",), "oauth2MetadataUrl", flows=Shape("OAuth flows", _FLOWS_1_0)),
    "openIdConnectSecurityScheme": _scheme(("openIdConnectUrl",)),
    "mtlsSecurityScheme": _scheme(()),
}
"""The security schemes of 1.0, by the name of the member that wraps them."""

_REQUIREMENTS = ArrayOf(MapOf(_STRINGS))
_REQUIREMENTS_1_0 = ArrayOf(
    Shape("security requirement", {"schemes": MapOf(Shape("scopes", {"list": _STRINGS}))}, ("schemes",))
)

_SKILL = strings(
    "id", "name", "description", **dict.fromkeys(("tags", "examples", "inputModes", "outputModes"), _STRINGS)
)
_SKILL_REQUIRED = ("id", "name", "description", "tags")
_CAPABILITIES: dict[str, Kind] = {"streaming": BOOLEAN, "pushNotifications": BOOLEAN}
_OLD_CAPABILITIES = _CAPABILITIES | {"stateTransitionHistory": BOOLEAN}

_MODES = {"defaultInputModes": _STRINGS, "defaultOutputModes": _STRINGS}
_COMMON = strings("name", "description", "version", "documentationUrl", **_MODES)
_REQUIRED = ("name", "description", "version", "capabilities", *_MODES, "skills")

_CARD_0_1 = Shape(
    "card",
    {
        **_COMMON,
        "url": STRING,
        "provider": Shape("provider", _PROVIDER.members, ("organization",)),
        "capabilities": Shape("capabilities", _OLD_CAPABILITIES),
        "authentication": Shape("authentication object", strings("credentials", schemes=_STRINGS), ("schemes",)),
        "skills": ArrayOf(Shape("skill", _SKILL, ("id", "name"))),
    },
    ("name", "url", "version", "capabilities", "skills"),
)
_INTERFACE = Shape("interface", strings("url", "transport"), ("url", "transport"))
_CARD_0_2 = Shape(
    "card",
    {
        **_COMMON,
        **strings("url", "protocolVersion", "preferredTransport", "iconUrl"),
        "additionalInterfaces": ArrayOf(_INTERFACE),
        "provider": _PROVIDER,
        "capabilities": Shape("capabilities", {**_OLD_CAPABILITIES, "extensions": ArrayOf(_EXTENSION)}),
        "securitySchemes": MapOf(OBJECT),
        "security": _REQUIREMENTS,
        "supportsAuthenticatedExtendedCard": BOOLEAN,
        "skills": ArrayOf(Shape("skill", _SKILL, _SKILL_REQUIRED)),
    },
    (*_REQUIRED, "url"),
)
_CARD_0_3 = Shape(
    "card",
    {
        **_CARD_0_2.members,
        "signatures": ArrayOf(_SIGNATURE),
        "skills": ArrayOf(Shape("skill", {**_SKILL, "security": _REQUIREMENTS}, _SKILL_REQUIRED)),
    },
    (*_REQUIRED, "url", "protocolVersion"),
)
_INTERFACE_REQUIRED = ("url", "protocolBinding", "protocolVersion")
_INTERFACE_1_0 = Shape("interface", strings(*_INTERFACE_REQUIRED, "tenant"), _INTERFACE_REQUIRED)
_CARD_1_0 = Shape(
    "card",
    {
        **_COMMON,
        "supportedInterfaces": ArrayOf(_INTERFACE_1_0),
        "iconUrl": STRING,
        "provider": _PROVIDER,
        "capabilities": Shape(
            "capabilities", {**_CAPABILITIES, "extensions": ArrayOf(_EXTENSION), "extendedAgentCard": BOOLEAN}
        ),
        "securitySchemes": MapOf(OBJECT),
        "securityRequirements": _REQUIREMENTS_1_0,
        "signatures": ArrayOf(_SIGNATURE),
        "skills": ArrayOf(Shape("skill", {**_SKILL, "securityRequirements": _REQUIREMENTS_1_0}, _SKILL_REQUIRED)),
    },
    (*_REQUIRED, "supportedInterfaces"),
)

CARDS: Mapping[str, Shape] = {
    "0.1": _CARD_0_1,
    "0.2": _CARD_0_2,
    "0.3": _CARD_0_3,
    "1.0": _CARD_1_0,
}
"""The shape of a card by protocol version. A version without an entry has the shape of the version that it extends.

Security schemes are objects without a shape, because their type depends on their content."""
