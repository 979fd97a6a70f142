"""The options that give the credentials which a card requires."""

from __future__ import annotations

import shlex

from inspector.protocol.card import AgentCard
from inspector.protocol.security import (
    ApiKeyScheme,
    HttpScheme,
    MutualTlsScheme,
    OAuth2Scheme,
    OpenIdConnectScheme,
    SecurityScheme,
    requirements,
)
from inspector.text.sanitise import clean_line

_MOST = 3
_LONGEST = 60


def credential_options(card: AgentCard) -> str:
    """Return the options for each of the first alternatives of a card, `""` if no option is known."""
    combinations = [[_option(required.scheme) for required in combination] for combination in requirements(card)]
    known = [" and ".join(options) for options in combinations if options and all(options)]
    return ", or ".join(list(dict.fromkeys(known))[:_MOST])


def _option(scheme: SecurityScheme) -> str:
    match scheme:
        case HttpScheme() if scheme.scheme.lower() == "basic":
            return "--basic USER:PASSWORD"
        case HttpScheme() if scheme.scheme.lower() != "bearer":
            return f"--header {shlex.quote(f'Authorization: {clean_line(scheme.scheme, _LONGEST)} CREDENTIALS')}"
        case HttpScheme() | OAuth2Scheme() | OpenIdConnectScheme():
            return "--bearer TOKEN"
        case ApiKeyScheme():
            return "--api-key KEY"
        case MutualTlsScheme():
            return "--client-cert FILE"
        case _:
            return ""
