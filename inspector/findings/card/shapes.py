"""The shape of a card in every protocol version: the members of its objects, their types, and which are required.

Sources: `specification/json/a2a.json` of 0.1.0, 0.2.6 and 0.3.0, `specification/a2a.proto` of 1.0.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.findings.shape import FLAG, STRUCT, TEXT, Kind, Many, Named, Shape, texts

_TEXTS = Many(TEXT)
_SCOPES = Named(TEXT)

_EXTENSION = Shape("extension", texts("uri", "description", required=FLAG, params=STRUCT), required=("uri",))
_SIGNATURE = Shape("signature", texts("protected", "signature", header=STRUCT), required=("protected", "signature"))
_PROVIDER = Shape("provider", texts("organization", "url"), required=("organization", "url"))


def _flow(*urls: str, **more: Kind) -> Shape:
    return Shape("flow", texts(*urls, "refreshUrl", scopes=_SCOPES, **more), required=(*urls, "scopes"))


_FLOWS: dict[str, Kind] = {
    "authorizationCode": _flow("authorizationUrl", "tokenUrl"),
    "clientCredentials": _flow("tokenUrl"),
    "implicit": _flow("authorizationUrl"),
    "password": _flow("tokenUrl"),
}
_FLOWS_1_0 = _FLOWS | {
    "authorizationCode": _flow("authorizationUrl", "tokenUrl", pkceRequired=FLAG),
    "deviceCode": _flow("deviceAuthorizationUrl", "tokenUrl"),
    # Deprecated, and without a REQUIRED member in the protocol's own definition.
    "implicit": Shape("flow", texts("authorizationUrl", "refreshUrl", scopes=_SCOPES)),
    "password": Shape("flow", texts("tokenUrl", "refreshUrl", scopes=_SCOPES)),
}


def _scheme(required: tuple[str, ...], *others: str, **more: Kind) -> Shape:
    return Shape("security scheme", texts("description", *required, *others, **more), required)


SCHEMES_BY_TYPE: Mapping[str, Shape] = {
    "apiKey": _scheme(("name", "in"), "type"),
    "http": _scheme(("scheme",), "type", "bearerFormat"),
    "oauth2": _scheme(("flows",), "type", "oauth2MetadataUrl", flows=Shape("flows", _FLOWS)),
    "openIdConnect": _scheme(("openIdConnectUrl",), "type"),
    "mutualTLS": _scheme((), "type"),
}
"""The security schemes of 0.2 and 0.3, whose member `type` names their kind, as in OpenAPI."""

WRAPPED_SCHEMES: Mapping[str, Shape] = {
    "apiKeySecurityScheme": _scheme(("name", "location")),
    "httpAuthSecurityScheme": _scheme(("scheme",), "bearerFormat"),
    "oauth2SecurityScheme": _scheme(("flows",), "oauth2MetadataUrl", flows=Shape("flows", _FLOWS_1_0)),
    "openIdConnectSecurityScheme": _scheme(("openIdConnectUrl",)),
    "mtlsSecurityScheme": _scheme(()),
}
"""The security schemes of 1.0, each wrapped in a member that names its kind."""

_REQUIREMENTS = Many(Named(_TEXTS))
_REQUIREMENTS_1_0 = Many(
    Shape("security requirement", {"schemes": Named(Shape("scopes", {"list": _TEXTS}))}, ("schemes",))
)

_SKILL = texts("id", "name", "description", **dict.fromkeys(("tags", "examples", "inputModes", "outputModes"), _TEXTS))
_SKILL_REQUIRED = ("id", "name", "description", "tags")
_CAPABILITIES: dict[str, Kind] = {"streaming": FLAG, "pushNotifications": FLAG}
_OLD_CAPABILITIES = _CAPABILITIES | {"stateTransitionHistory": FLAG}

_MODES = {"defaultInputModes": _TEXTS, "defaultOutputModes": _TEXTS}
_COMMON = texts("name", "description", "version", "documentationUrl", **_MODES)
_REQUIRED = ("name", "description", "version", "capabilities", *_MODES, "skills")

_CARD_0_1 = Shape(
    "card",
    {
        **_COMMON,
        "url": TEXT,
        "provider": Shape("provider", _PROVIDER.members, ("organization",)),
        "capabilities": Shape("capabilities", _OLD_CAPABILITIES),
        "authentication": Shape("authentication", texts("credentials", schemes=_TEXTS), ("schemes",)),
        "skills": Many(Shape("skill", _SKILL, ("id", "name"))),
    },
    ("name", "url", "version", "capabilities", "skills"),
)
_INTERFACE = Shape("interface", texts("url", "transport"), ("url", "transport"))
_CARD_0_2 = Shape(
    "card",
    {
        **_COMMON,
        **texts("url", "protocolVersion", "preferredTransport", "iconUrl"),
        "additionalInterfaces": Many(_INTERFACE),
        "provider": _PROVIDER,
        "capabilities": Shape("capabilities", {**_OLD_CAPABILITIES, "extensions": Many(_EXTENSION)}),
        "securitySchemes": Named(STRUCT),
        "security": _REQUIREMENTS,
        "supportsAuthenticatedExtendedCard": FLAG,
        "skills": Many(Shape("skill", _SKILL, _SKILL_REQUIRED)),
    },
    (*_REQUIRED, "url"),
)
_CARD_0_3 = Shape(
    "card",
    {
        **_CARD_0_2.members,
        "signatures": Many(_SIGNATURE),
        "skills": Many(Shape("skill", {**_SKILL, "security": _REQUIREMENTS}, _SKILL_REQUIRED)),
    },
    (*_REQUIRED, "url", "protocolVersion"),
)
_INTERFACE_REQUIRED = ("url", "protocolBinding", "protocolVersion")
_INTERFACE_1_0 = Shape("interface", texts(*_INTERFACE_REQUIRED, "tenant"), _INTERFACE_REQUIRED)
_CARD_1_0 = Shape(
    "card",
    {
        **_COMMON,
        "supportedInterfaces": Many(_INTERFACE_1_0),
        "iconUrl": TEXT,
        "provider": _PROVIDER,
        "capabilities": Shape(
            "capabilities", {**_CAPABILITIES, "extensions": Many(_EXTENSION), "extendedAgentCard": FLAG}
        ),
        "securitySchemes": Named(STRUCT),
        "securityRequirements": _REQUIREMENTS_1_0,
        "signatures": Many(_SIGNATURE),
        "skills": Many(Shape("skill", {**_SKILL, "securityRequirements": _REQUIREMENTS_1_0}, _SKILL_REQUIRED)),
    },
    (*_REQUIRED, "supportedInterfaces"),
)

CARDS: Mapping[str, Shape] = {
    "0.1": _CARD_0_1,
    "0.2": _CARD_0_2,
    "0.3": _CARD_0_3,
    "1.0": _CARD_1_0,
}
"""The card of every version, unless it is that of the version it extends.

Security schemes are plain objects in it, because their kind depends on their content."""
