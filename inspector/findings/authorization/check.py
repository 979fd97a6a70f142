"""Check the rules about authorization for one step of a login."""

from __future__ import annotations

from itertools import chain

from inspector.findings.authorization import devices, redirects, resource, server_metadata, tokens
from inspector.findings.authorization.facts import LoginFacts
from inspector.findings.finding import Finding

RULES = tuple(chain(server_metadata.RULES, redirects.RULES, tokens.RULES, devices.RULES, resource.RULES))
"""The rules about logins. Their examples are the members of `LoginFacts`."""

_ALWAYS = {
    "metadata": server_metadata.FETCHED,
    "redirect": redirects.REDIRECT,
    "token": tokens.RESPONSE,
    "refresh": tokens.RESPONSE,
    "keys": resource.KEYS,
}
"""The rules that are checked for every answer in a step."""
_IF_SUCCEEDED = {
    "metadata": server_metadata.DOCUMENT,
    "device": devices.DEVICE,
    "token": tokens.GRANTED,
    "refresh": tokens.GRANTED,
    "resource": resource.RESOURCE,
}
"""The rules that are checked only for the requested document."""


def check(facts: LoginFacts) -> tuple[Finding, ...]:
    """Return the findings about a step."""
    found = _ALWAYS[facts.step].judge(facts) if facts.step in _ALWAYS else []
    if facts.succeeded and facts.step in _IF_SUCCEEDED:
        found += _IF_SUCCEEDED[facts.step].judge(facts)
    return tuple(found)
