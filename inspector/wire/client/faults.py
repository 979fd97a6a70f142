"""What the network does wrong, in words: whose fault it is, what was seen and what to do next."""

from __future__ import annotations

import socket
import ssl
from urllib.parse import urlsplit

import httpx

from inspector.protocol.errors import Fault, FaultCode, Whose


def explain(error: Exception, url: str) -> Fault:
    """Turn an error of the HTTP client into a fault about `url`."""
    host, place = _whither(url)
    cause = _root(error)
    match cause:
        case ssl.SSLCertVerificationError():
            return Fault(
                Whose.AGENT,
                FaultCode.UNREACHABLE,
                f"The certificate of {host} was refused: {cause.verify_message}.",
                "Check its name, dates and chain; --insecure connects anyway, for development only.",
            )
        case ssl.SSLError():
            return Fault(
                Whose.AGENT,
                FaultCode.UNREACHABLE,
                f"TLS with {host} failed: {_words(cause)}.",
                "Is this port served over plain http? Then type http:// instead of https://.",
            )
        case socket.gaierror():
            return Fault(
                Whose.NETWORK,
                FaultCode.UNREACHABLE,
                f"The name {host} could not be resolved: {_words(cause)}.",
                "Check the spelling, the network and, inside a container, its DNS.",
            )
        case ConnectionRefusedError():
            return Fault(
                Whose.AGENT,
                FaultCode.UNREACHABLE,
                f"Nothing listens at {place}: the connection was refused.",
                "Is the agent running, and on this port?",
            )
        case _:
            return _explain_http(error, host, url)


def _explain_http(error: Exception, host: str, url: str) -> Fault:
    match error:
        case httpx.InvalidURL() | httpx.UnsupportedProtocol():
            return Fault(
                Whose.YOURS,
                FaultCode.USAGE,
                f"{url!r} is not a url that can be asked: {_words(error)}.",
                "A url starts with http:// or https://.",
            )
        case httpx.LocalProtocolError() | UnicodeError():
            return Fault(
                Whose.YOURS,
                FaultCode.USAGE,
                f"The request to {host} cannot be written as HTTP: {_words(error)}.",
                "Look at the host and at the headers that you give: a strange character, or a wrong length, is in one.",
            )
        case httpx.ConnectTimeout():
            return Fault(
                Whose.NETWORK,
                FaultCode.UNREACHABLE,
                f"{host} did not answer the connection in time.",
                "A firewall that drops packets looks like this; check host and port.",
            )
        case httpx.ReadTimeout() | httpx.WriteTimeout() | httpx.PoolTimeout():
            return Fault(
                Whose.AGENT,
                FaultCode.TIMEOUT,
                f"{host} accepted the request and then stayed silent until the time was up.",
                "Is the agent stuck? Try again with a longer --timeout, or streamed.",
            )
        case httpx.ConnectError():
            return Fault(
                Whose.NETWORK,
                FaultCode.UNREACHABLE,
                f"No connection to {host}: {_words(_root(error))}.",
                "Check host, port and the network between.",
            )
        case httpx.RemoteProtocolError():
            return Fault(
                Whose.AGENT,
                FaultCode.UNREACHABLE,
                f"{host} broke off or answered against HTTP: {_words(error)}.",
                "Did the agent crash while it answered? Its log will tell.",
            )
        case httpx.TransportError():
            return Fault(
                Whose.NETWORK,
                FaultCode.UNREACHABLE,
                f"The connection to {host} broke: {_words(_root(error))}.",
                "Did the agent or a proxy between close it?",
            )
        case _:
            return Fault(
                Whose.OURS,
                FaultCode.INTERNAL,
                f"The inspector failed on {host}: {type(error).__name__}: {_words(error)}.",
                "Please report this with the capture.",
            )


def _whither(url: str) -> tuple[str, str]:
    """Return the host of a url, and host and port; the url itself where it has none."""
    try:
        parts = urlsplit(url)
        return parts.hostname or url, parts.netloc.rpartition("@")[2] or url
    except ValueError:  # brackets that hold no address
        return url, url


def _root(error: BaseException) -> BaseException:
    """Find what lies under an error: httpx wraps httpcore, which wraps what the system said."""
    seen: BaseException = error
    while (below := seen.__cause__ or seen.__context__) is not None:
        seen = below
        if isinstance(seen, ssl.SSLError | socket.gaierror | ConnectionError):
            return seen
        if isinstance(seen, BaseExceptionGroup) and seen.exceptions:
            seen = seen.exceptions[0]
    return seen


def _words(error: BaseException) -> str:
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(said).rstrip(".")
