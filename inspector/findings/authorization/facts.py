"""The facts about one step of a login, which the rules about authorization check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from math import inf
from typing import TypeGuard

from inspector.lazy_dataclass import dataclass
from inspector.protocol import jsonvalue
from inspector.protocol.model import Json


@dataclass(frozen=True, slots=True)
class LoginFacts:
    """One step of a login with its answer; every secret is masked.

    - `step`: the name of the step, as in `meta["login"]` of its records: `metadata`, `authorize`, `redirect`, `device`,
      `token`, `refresh`, `revoke`, `keys`, `resource`.
    - `grant`: the name of the flow on the card (`authorizationCode`), `scheme`: the members of the scheme in 1.0
      (`{"oauth2SecurityScheme": {"flows": ...}}`).
    - `agent`: the URL of the agent that will get the token, `""` if it is not known.
    - `url`: where the request was sent. `parameters`: its form or query, or those of the redirect that was received.
    - `status`, `headers`, `at`: of the response; `at` is in seconds since 1970 by our clock.
    - `answer`: the JSON object in the response, None if it is not an object.
    - `access_claims`, `id_claims`: the claims of the tokens in the answer, read without verification; empty for a token
      that is not a JWT.
    - `metadata`: the document of the authorization server that this login fetched before, None without.
    - `scopes`: the scopes that this login asks for.
    - `issuer`: the issuer that the answer has to name, `""` if it is not known.
    - `state_matches`: whether the redirect had the state that was sent, None in other steps.
    - `id_token_problem`: why the ID token was refused, `""` if it was not.
    """

    step: str
    grant: str = ""
    scheme: Mapping[str, Json] = field(default_factory=dict)
    agent: str = ""
    url: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    at: float = 0.0
    answer: Mapping[str, Json] | None = None
    access_claims: Mapping[str, Json] = field(default_factory=dict)
    id_claims: Mapping[str, Json] = field(default_factory=dict)
    metadata: Mapping[str, Json] | None = None
    scopes: tuple[str, ...] = ()
    issuer: str = ""
    state_matches: bool | None = None
    id_token_problem: str = ""

    @property
    def version(self) -> str:
        """Return the protocol version whose rules apply: the rules about logins are the same in every version."""
        from inspector.findings.rule_set import NEWEST_FIRST  # noqa: PLC0415 - logins that are not judged load no rules

        return NEWEST_FIRST[0]

    @property
    def succeeded(self) -> bool:
        """Return whether the server answered with the requested document."""
        return self.status == 200 and self.answer is not None and "error" not in self.answer

    @property
    def members(self) -> Mapping[str, Json]:
        """Return the members of the answer, none if it is not an object."""
        return self.answer or {}

    @property
    def oauth(self) -> Mapping[str, Json]:
        """Return the members of the OAuth 2.0 scheme, none for another scheme."""
        inside = self.scheme.get("oauth2SecurityScheme")
        return inside if isinstance(inside, Mapping) else {}

    @property
    def flow(self) -> Mapping[str, Json]:
        """Return the flow on the card that this login uses, an empty one for OpenID Connect."""
        flows = self.oauth.get("flows")
        inside = flows.get(self.grant) if isinstance(flows, Mapping) else None
        return inside if isinstance(inside, Mapping) else {}

    def header(self, name: str) -> str:
        """Return a header of the response, `""` if it is missing; repeated values are joined by commas."""
        return ", ".join(value for field_name, value in self.headers if field_name.lower() == name)


def is_number(value: Json) -> TypeGuard[int | float]:
    """Return whether a value is a number that is not infinite, as `1e999` is."""
    return jsonvalue.is_number(value) and abs(value) < inf


def texts(value: Json) -> Iterator[str]:
    """Yield the texts of a list, nothing if it is not a list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))
