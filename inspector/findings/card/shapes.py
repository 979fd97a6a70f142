"""The shape of a card in every generation, as tables: which members an object has, of which type, which are required.

Sources: `specification/json/a2a.json` of 0.1.0, 0.2.6 and 0.3.0, `specification/a2a.proto` of 1.0.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.findings.shape import FLAG, STRUCT, TEXT, Kind, Many, Named, Shape

_TEXTS = Many(TEXT)
_SCOPES = Named(TEXT)

_EXTENSION = Shape(
    "extension", {"uri": TEXT, "description": TEXT, "required": FLAG, "params": STRUCT}, required=("uri",)
)
_SIGNATURE = Shape(
    "signature", {"protected": TEXT, "signature": TEXT, "header": STRUCT}, required=("protected", "signature")
)
_PROVIDER = Shape("provider", {"organization": TEXT, "url": TEXT}, required=("organization", "url"))


def _flow(*urls: str, **more: Kind) -> Shape:
    members: dict[str, Kind] = dict.fromkeys((*urls, "refreshUrl"), TEXT)
    return Shape("flow", {**members, "scopes": _SCOPES, **more}, required=(*urls, "scopes"))


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
    "implicit": Shape("flow", {"authorizationUrl": TEXT, "refreshUrl": TEXT, "scopes": _SCOPES}),
    "password": Shape("flow", {"tokenUrl": TEXT, "refreshUrl": TEXT, "scopes": _SCOPES}),
}


def _scheme(required: tuple[str, ...], **members: Kind) -> Shape:
    return Shape("security scheme", {"description": TEXT, **members}, required)


SCHEMES_BY_TYPE: Mapping[str, Shape] = {
    "apiKey": _scheme(("name", "in"), type=TEXT, name=TEXT, **{"in": TEXT}),
    "http": _scheme(("scheme",), type=TEXT, scheme=TEXT, bearerFormat=TEXT),
    "oauth2": _scheme(("flows",), type=TEXT, flows=Shape("flows", _FLOWS), oauth2MetadataUrl=TEXT),
    "openIdConnect": _scheme(("openIdConnectUrl",), type=TEXT, openIdConnectUrl=TEXT),
    "mutualTLS": _scheme((), type=TEXT),
}
"""The security schemes of 0.2 and 0.3, which say their kind in `type`, as OpenAPI does."""

WRAPPED_SCHEMES: Mapping[str, Shape] = {
    "apiKeySecurityScheme": _scheme(("name", "location"), name=TEXT, location=TEXT),
    "httpAuthSecurityScheme": _scheme(("scheme",), scheme=TEXT, bearerFormat=TEXT),
    "oauth2SecurityScheme": _scheme(("flows",), flows=Shape("flows", _FLOWS_1_0), oauth2MetadataUrl=TEXT),
    "openIdConnectSecurityScheme": _scheme(("openIdConnectUrl",), openIdConnectUrl=TEXT),
    "mtlsSecurityScheme": _scheme(()),
}
"""The security schemes of 1.0, each wrapped in a member that says its kind."""


_REQUIREMENTS = Many(Named(_TEXTS))
_REQUIREMENTS_1_0 = Many(
    Shape("security requirement", {"schemes": Named(Shape("scopes", {"list": _TEXTS}))}, ("schemes",))
)

_SKILL: dict[str, Kind] = {
    "id": TEXT,
    "name": TEXT,
    "description": TEXT,
    "tags": _TEXTS,
    "examples": _TEXTS,
    "inputModes": _TEXTS,
    "outputModes": _TEXTS,
}
_SKILL_REQUIRED = ("id", "name", "description", "tags")
_CAPABILITIES: dict[str, Kind] = {"streaming": FLAG, "pushNotifications": FLAG}
_OLD_CAPABILITIES = _CAPABILITIES | {"stateTransitionHistory": FLAG}

_COMMON: dict[str, Kind] = {
    "name": TEXT,
    "description": TEXT,
    "version": TEXT,
    "documentationUrl": TEXT,
    "defaultInputModes": _TEXTS,
    "defaultOutputModes": _TEXTS,
}
_REQUIRED = ("name", "description", "version", "capabilities", "defaultInputModes", "defaultOutputModes", "skills")

_CARD_0_1 = Shape(
    "card",
    {
        **_COMMON,
        "url": TEXT,
        "provider": Shape("provider", _PROVIDER.members, ("organization",)),
        "capabilities": Shape("capabilities", _OLD_CAPABILITIES),
        "authentication": Shape("authentication", {"schemes": _TEXTS, "credentials": TEXT}, ("schemes",)),
        "skills": Many(Shape("skill", _SKILL, ("id", "name"))),
    },
    ("name", "url", "version", "capabilities", "skills"),
)
_INTERFACE = Shape("interface", {"url": TEXT, "transport": TEXT}, ("url", "transport"))
_CARD_0_2 = Shape(
    "card",
    {
        **_COMMON,
        "url": TEXT,
        "protocolVersion": TEXT,
        "preferredTransport": TEXT,
        "additionalInterfaces": Many(_INTERFACE),
        "iconUrl": TEXT,
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
_INTERFACE_1_0 = Shape(
    "interface",
    {"url": TEXT, "protocolBinding": TEXT, "protocolVersion": TEXT, "tenant": TEXT},
    ("url", "protocolBinding", "protocolVersion"),
)
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

Security schemes are plain objects in it, because their content tells their kind."""
