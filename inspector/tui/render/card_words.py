"""Members of a card in words: the provider, the details of a security scheme, and URLs."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from inspector.protocol.card import AgentCard
from inspector.text.sanitise import clean


def provider_in_words(card: AgentCard) -> str:
    """Return who provides an agent, with their URL."""
    provider = card.provider
    name = clean(provider.organization, limit=60).strip() if provider else ""
    url = clean(shown_url(provider.url), limit=80) if provider and provider.url else ""
    words = ", ".join(filter(None, (name, url)))
    return f"   by {words}" if words else ""


def scheme_details(scheme: object) -> Iterator[tuple[str, str]]:
    """Yield the description of a security scheme (without a name), and the names and values of its urls."""
    waiting = [scheme]
    while waiting:
        members = waiting.pop()
        for name, value in members.items() if isinstance(members, dict) else ():
            if isinstance(value, str) and name == "description":
                yield "", value
            elif isinstance(value, str) and name.endswith("Url"):
                yield name, shown_url(value)
            elif isinstance(value, dict) and name != "scopes":
                waiting.append(value)


def shown_url(url: str) -> str:
    """Return a url, followed by its host in ASCII (IDNA) if the host has letters that may imitate others."""
    if url.isascii():
        return url
    try:
        host = urlsplit(url).hostname or ""
        return url if host.isascii() else f"{url} (the host is {host.encode('idna').decode('ascii')})"
    except ValueError:
        return f"{url} (invalid host)"
