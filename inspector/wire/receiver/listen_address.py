"""The address that the receiver listens on, its url for agents, its TLS context, and commands for tunnels."""

from __future__ import annotations

import errno
import shutil
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import usage_error
from inspector.text.host import authority, url_host


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """The address of a receiver, its url for agents, and the accepted values of `Host`.

    - `base_url`: the url for agents, without a slash at the end; `prefix`: its path, "" without one.
    - `hosts`: the accepted values of `Host`. A receiver that listens on all addresses also accepts any IP address with
      one of the `open_ports`: `:9000`, or on the default port of the scheme also `""`.
    """

    host: str
    port: int
    base_url: str
    prefix: str
    hosts: frozenset[str]
    open_ports: tuple[str, ...]

    @classmethod
    def at(cls, host: str, port: int, public_url: str | None = None, *, tls: bool = False) -> ListenAddress:
        """Return the listen address of a bound socket; raises `FaultError` for an unusable public url."""
        address = ip_address(host)
        everywhere = address.is_unspecified
        reachable = ("127.0.0.1" if address.version == 4 else "::1") if everywhere else host
        own = authority(reachable, port)
        scheme, usual = ("https", ":443") if tls else ("http", ":80")
        if public_url:
            base_url, prefix, names = _read_public(public_url)
        else:
            base_url, prefix, names = f"{scheme}://{own}", "", frozenset()
        hosts = names | {own, own.removesuffix(usual)}
        ports = (f":{port}", "") if f":{port}" == usual else (f":{port}",)
        return cls(host, port, base_url, prefix, hosts, ports if everywhere else ())


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; raises `FaultError` if the address is not usable."""
    if port not in range(65536):
        raise usage_error(f"{port} is not a port.", "Enter a number from 0 to 65535; with 0, a free port is used.")
    try:
        family = socket.AF_INET6 if ip_address(host).version == 6 else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (ValueError, OSError) as error:
        raise usage_error(*_explain(error, host, port)) from error


def tls_context(certificate: Path, key: Path | None = None) -> ssl.SSLContext:
    """Return the TLS context of a server; without `key`, the key is in the file of the certificate.

    Raises `FaultError` if the files do not contain a certificate with its key.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    hint = "Use PEM files: the certificate first, then its intermediate certificates; the key without a password."
    try:
        context.load_cert_chain(
            certificate, key, password=""
        )  # without it, OpenSSL would ask for a password at the terminal
    except ssl.SSLError as error:
        what = f"{certificate} and {key}" if key else str(certificate)
        raise usage_error(
            f"No certificate with its key was found in {what} ({error.reason or error}).", hint
        ) from error
    except OSError as error:
        raise usage_error(f"The certificate or its key could not be read: {error.strerror or error}.", hint) from error
    return context


_DISTRUST = frozenset({"UNKNOWN_CA", "BAD_CERTIFICATE", "CERTIFICATE_UNKNOWN", "CERTIFICATE_EXPIRED", "ACCESS_DENIED"})
"""The TLS alerts of a sender that does not accept our certificate."""


def why_no_tls(error: Exception) -> str:
    """Return why a TLS handshake of a sender failed."""
    reason = (error.reason or "") if isinstance(error, ssl.SSLError) else ""
    alert = reason.lower().replace("_", " ")
    if reason.partition("ALERT_")[2] in _DISTRUST:
        return f"the sender does not trust our certificate ({alert})"
    if reason == "HTTP_REQUEST":
        return "the sender uses plain http, but this receiver uses https"
    if alert:
        return f"the TLS handshake failed ({alert})"
    if isinstance(error, TimeoutError):
        return "the sender did not complete the TLS handshake in time"
    return "the sender closed the connection during the TLS handshake: it may not trust our certificate"


def _explain(error: Exception, host: str, port: int) -> tuple[str, str]:
    where = authority(host, port)
    match error:
        case OSError(errno=errno.EADDRINUSE):
            hint = "Stop the program that listens on it, or choose another port; with 0, a free port is used."
            return f"Port {port} of {host} is in use.", hint
        case OSError(errno=errno.EADDRNOTAVAIL):
            return (
                f"{host} is not an address of this machine.",
                "Use 127.0.0.1, or 0.0.0.0 for all addresses of this machine.",
            )
        case OSError(errno=errno.EACCES):
            return (
                f"Listening on {where} is not permitted.",
                "Choose a port above 1023; lower ports need special permissions.",
            )
        case OSError():
            return f"Listening on {where} failed: {error.strerror}.", "Choose another address or port."
        case _:
            return f"{host} is not an IP address.", "Use an address such as 127.0.0.1 instead of a name."


def _read_public(url: str) -> tuple[str, str, frozenset[str]]:
    """Return a public url without a slash at the end, its path, and its values of `Host`."""
    hint = "Use the url under which agents reach this machine, such as https://abc.example.org."
    try:
        parts = urlsplit(url)
        name, port = parts.hostname, parts.port
    except ValueError as error:
        raise usage_error(f"The public url is invalid: {error}.", hint) from error
    if parts.scheme not in ("http", "https") or not name or parts.query or parts.fragment or "@" in parts.netloc:
        raise usage_error("The public url does not have the form http(s)://host/path.", hint)
    hosts = {url_host(name)}
    if not name.isascii():
        with suppress(UnicodeError):
            hosts.add(name.encode("idna").decode("ascii"))  # senders write the name in Punycode
    usual = 443 if parts.scheme == "https" else 80
    names = {f"{host}:{port or usual}" for host in hosts} | (hosts if port in (None, usual) else set())
    prefix = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{prefix}", prefix, frozenset(names)


_TUNNELS = {
    "cloudflared": "cloudflared tunnel --url {url}",
    "ngrok": "ngrok http {url}",
    "ssh": "ssh -R 80:{host} nokey@localhost.run",
}


def tunnels(url: str, find: Callable[[str], str | None] = shutil.which) -> list[str]:
    """Return commands that print a public url for the receiver: one for each tunnel program on the PATH."""
    host = url.partition("://")[2]
    return [command.format(url=url, host=host) for name, command in _TUNNELS.items() if find(name)]
