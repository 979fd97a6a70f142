"""The settings of a session, from the options of a command line."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from dataclasses import field

from inspector import env_files
from inspector.findings.signatures.keyset import KeySet
from inspector.lazy_dataclass import dataclass
from inspector.options import Options
from inspector.protocol.errors import usage_error
from inspector.session import lazy_loading
from inspector.session.login.secret_reference import resolve
from inspector.text.reference import with_scheme
from inspector.text.typed_path import typed_path
from inspector.wire.client.client_certificate import ClientCertificate, read_client_certificate
from inspector.wire.client.credentials import Credentials, basic, basic_credentials, origin, split_userinfo
from inspector.wire.client.http import Limits

_PLAIN_HEADERS = frozenset(
    {
        "accept",
        "accept-language",
        "a2a-extensions",
        "a2a-version",
        "content-type",
        "traceparent",
        "tracestate",
        "user-agent",
        "x-a2a-extensions",
        "x-request-id",
    }
)
"""Headers whose values are not secret; all other headers may contain credentials."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a session; the card defines where the `api_key` is sent.

    `certificate` is used in TLS handshakes, `secrets` are masked: passwords and passphrases. With `auth_card`,
    credentials are sent with the first request for the card, otherwise only after a response with status 401. With
    `check`, the rules are checked for everything that the agent sends. Without `outdated`, an interface with a version
    before 1.0 is used only if `version` requests it. With `read_only`, nothing is sent that changes the agent. With
    `withheld`, which names the file with the URL of the agent, credentials are sent to trusted origins only.
    `no_environment` is why checks may not read environment variables. `trusted_keys` are trusted for the signatures of
    mandates.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    api_key: str = field(default="", repr=False)
    certificate: ClientCertificate | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    trusted: tuple[str, ...] = ()
    transports: tuple[str, ...] = ()
    version: str = ""
    auth_card: bool = False
    insecure: bool = False
    trusted_keys: KeySet | None = None
    receiver_host: str = "127.0.0.1"
    receiver_port: int = 0
    public_url: str | None = None
    receiver_tls: ssl.SSLContext | None = None
    limits: Limits = field(default_factory=Limits)
    check: bool = True
    outdated: bool = True
    withheld: str = ""
    no_environment: str = ""
    read_only: bool = False

    @property
    def secret_headers(self) -> dict[str, str]:
        """Return the headers whose values are masked, and sent to trusted origins only."""
        return {name: value for name, value in self.headers.items() if name.lower() not in _PLAIN_HEADERS}

    def credentials(self, home: str = "", userinfo: str = "") -> Credentials:
        """Return credentials for an origin and the trusted origins; an Authorization header replaces `userinfo`."""
        headers = self.secret_headers
        plain = {name: value for name, value in self.headers.items() if name not in headers}
        if userinfo and not any(name.lower() == "authorization" for name in headers):
            headers["Authorization"] = basic(userinfo)
        home = "" if self.withheld else home
        origins = frozenset((home, *(origin(with_scheme(reference)) for reference in self.trusted))) - {""}
        return Credentials(headers, origins, plain=plain, unasked=self.auth_card, certificate=self.certificate)

    def credentials_for(self, reference: str) -> Credentials:
        """Return the credentials for the origin of a reference."""
        url, userinfo = split_userinfo(with_scheme(reference))
        return self.credentials(origin(url), userinfo)

    def trust_hint(self, place: str) -> str:
        """Return how to allow that the credentials are sent to an origin."""
        if not self.withheld:
            return f"Add --trust {place}."
        always = f"A2ACLI_TRUST={place} to {env_files.user_path()}"
        return f"If you trust {place}, add --trust {place}, or for all commands {always}."


def from_project(place: str) -> str:
    """Return why a project may not use what belongs to the user; `place` is the line that names its agent."""
    return f"the URL of the agent is from a file of the project, {place}, which could name any host"


def settings_from(options: Options, passphrase: str = "") -> Settings:
    """Return the settings; join repeated headers (RFC 9110 5.3). Raises `FaultError` for an invalid certificate.

    `passphrase` is that of the key of the client certificate; if it is needed or wrong, `PassphraseError` is raised.
    """
    headers = _joined((*options.svc_params, *options.headers))
    if options.bearer and options.basic:
        raise usage_error("--bearer and --basic exclude each other.", "Leave out one of them.")
    if (options.bearer or options.basic) and not any(name.lower() == "authorization" for name in headers):
        headers["Authorization"] = f"Bearer {options.bearer}" if options.bearer else basic_credentials(options.basic)
    passphrase = passphrase or resolve(options.client_passphrase)
    certificate = options.receiver_cert
    return Settings(
        headers=headers,
        api_key=options.api_key,
        certificate=_client_certificate(options, passphrase),
        secrets=tuple(filter(None, (options.basic.partition(":")[2], passphrase))),
        trusted=options.trust,
        transports=options.transports,
        version=options.a2a_version,
        auth_card=options.auth_card,
        insecure=options.insecure,
        trusted_keys=lazy_loading.keys_in(options.trusted_keys) if options.trusted_keys else None,
        receiver_host=options.receiver_host,
        receiver_port=options.receiver_port,
        public_url=options.public_url,
        receiver_tls=lazy_loading.tls_context(certificate, options.receiver_key) if certificate else None,
        limits=Limits(read_seconds=options.timeout),
        withheld=options.named_by if options.withheld else "",
        no_environment=from_project(options.named_by) if options.named_by else "",
        read_only=options.read_only,
    )


def _client_certificate(options: Options, passphrase: str) -> ClientCertificate | None:
    if options.client_cert is None:
        if options.client_key is not None:
            raise usage_error("--client-key needs --client-cert.", "Add the certificate of the key.")
        return None
    # The settings file can contain paths as text, also for commands without these options.
    try:
        certificate = typed_path(str(options.client_cert))
        key = typed_path(str(options.client_key)) if options.client_key else None
    except OSError as error:
        raise usage_error(f"The client certificate cannot be read: {error.filename}: {error.strerror}.") from error
    return read_client_certificate(certificate, key, passphrase=passphrase)


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    spelled: dict[str, str] = {}
    joined: dict[str, str] = {}
    for name, value in pairs:
        first = spelled.setdefault(name.lower(), name)
        separator = "; " if name.lower() == "cookie" else ", "  # RFC 6265 section 4.2.1
        joined[first] = f"{joined[first]}{separator}{value}" if first in joined else value
    return joined
