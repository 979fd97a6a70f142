"""The facts about one step of a login, which the rules about authorization check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inspector.protocol.model import Json


@dataclass(frozen=True, slots=True)
class LoginFacts:
    """One step of a login with its answer; every secret is masked.

    - `step`: the name of the step, as in `meta["login"]` of its records: `metadata`, `authorize`, `redirect`, `device`,
      `token`, `refresh`, `revoke`, `keys`, `resource`.
    - `grant`: the name of the flow on the card (`authorizationCode`), `scheme`: the members of the scheme in 1.0
      (`{"oauth2SecurityScheme": {"flows": ...}}`).
    - `url`: where the request was sent. `parameters`: its form or query, or those of the redirect that was received.
    - `status`, `headers`, `at`: of the response; `at` is in seconds since 1970 by our clock.
    - `answer`: the JSON object in the response, None if it is not an object.
    - `metadata`: the document of the authorization server that this login fetched before, None without.
    - `scopes`: the scopes that this login asks for.
    - `issuer`: the issuer that the answer has to name, `""` if it is not known.
    - `state_matches`: whether the redirect had the state that was sent, None in other steps.
    """

    step: str
    grant: str
    scheme: Mapping[str, Json] = field(default_factory=dict)
    url: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    at: float = 0.0
    answer: Mapping[str, Json] | None = None
    metadata: Mapping[str, Json] | None = None
    scopes: tuple[str, ...] = ()
    issuer: str = ""
    state_matches: bool | None = None
