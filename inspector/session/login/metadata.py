"""Fetch the metadata of an authorization server, and find the endpoints of a login."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlsplit

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.oauth import ServerMetadata, issuer_matches, read_metadata
from inspector.session.login.exchange import LoginChannel, UntrustedServerError, invalid, refusal
from inspector.session.login.options import LoginOption
from inspector.session.login.state import Step
from inspector.text.host import AddressScope, address_scope
from inspector.text.sanitise import clean
from inspector.wire.client.credentials import origin

_SHOWN = 200
_LONGEST_URL = 8000


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The endpoints of a login: those of the card; the metadata adds what the card does not have.

    `issuer` is `""` if the login has no metadata. `issuer_in_redirect` is whether redirects must contain the issuer.
    """

    authorization_url: str = ""
    token_url: str = ""
    device_url: str = ""
    revocation_url: str = ""
    keys_url: str = ""
    issuer: str = ""
    issuer_in_redirect: bool = False
    client_authentication: tuple[str, ...] = ()


async def find_endpoints(channel: LoginChannel, option: LoginOption) -> Endpoints:
    """Return the endpoints of a flow; fetch the metadata if the card names it. Raises `FaultError`.

    Metadata that cannot be fetched is an error only for OpenID Connect: otherwise the card has the endpoints.
    """
    metadata = ServerMetadata()
    if option.metadata_url:
        metadata = await _fetch(channel, option) or metadata
        for on_card, in_metadata in ((option.token_url, metadata.token_url), (option.device_url, metadata.device_url)):
            _check_server(channel, on_card, in_metadata)
    return Endpoints(
        authorization_url=option.authorization_url or metadata.authorization_url,
        token_url=option.token_url or metadata.token_url,
        device_url=option.device_url or metadata.device_url,
        revocation_url=metadata.revocation_url,
        keys_url=metadata.keys_url,
        issuer=metadata.issuer,
        issuer_in_redirect=metadata.issuer_in_redirect,
        client_authentication=metadata.client_authentication,
    )


async def _fetch(channel: LoginChannel, option: LoginOption) -> ServerMetadata | None:
    url = checked_url(option.metadata_url, "the metadata URL on the card")
    fetch = await channel.get(Step.METADATA, url)
    if fetch.status != HTTPStatus.OK or fetch.answer is None:
        if option.openid:
            raise refusal(fetch, "the OpenID discovery document")
        return None
    metadata = read_metadata(fetch.answer)
    if not issuer_matches(metadata.issuer, url):
        seen = f"The metadata at {url} is for another issuer: {clean(metadata.issuer, limit=_SHOWN) or 'none'}."
        hint = "Do not log in there unless you know why. Correct the URL on the card, or the issuer in the metadata."
        raise FaultError(Fault(Whose.AGENT, FaultCode.AUTH_FAILED, seen, hint))
    channel.metadata = fetch.answer
    return metadata


def _check_server(channel: LoginChannel, on_card: str, in_metadata: str) -> None:
    """Raise `UntrustedServerError` if the card sends the secrets of a login to another server than the metadata."""
    place, expected = origin(on_card), origin(in_metadata)
    if place and expected and place != expected and place not in channel.trusted:
        seen = (
            f"The card has an endpoint at {place}, but the metadata of the authorization server has it at {expected}."
        )
        why = "With such a card, an agent can get the code of a login at another server. Correct the card."
        raise UntrustedServerError(place, seen, why)


def checked_url(url: str, what: str) -> str:
    """Return a URL of a login if it is safe to request and to open; raises `FaultError`.

    It has to be http or https, printable and without userinfo. Over the internet and the network of a provider, http is
    not accepted: others could read the secrets.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        valid = parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:
        valid, host = False, ""
    shown = clean(url, limit=_SHOWN)
    if not url:
        raise invalid(f"The login needs {what}, but there is none.", "Choose another flow, or complete the card.")
    problem = ""
    if not (url.isascii() and url.isprintable()) or " " in url:
        problem = "has characters that a URL cannot contain"
    elif not valid:
        problem = "is not a web address"
    elif "@" in parts.netloc:
        problem = "contains a user name"
    elif len(url) > _LONGEST_URL:
        problem = "is too long"
    elif parts.scheme == "http" and address_scope(host) <= AddressScope.SHARED:
        problem = "is http, so that others could read the secrets"
    if problem:
        raise invalid(f"{what[:1].upper()}{what[1:]} {problem}: {shown}.", "Correct it there.")
    return url
