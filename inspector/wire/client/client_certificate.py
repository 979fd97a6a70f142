"""Client certificates for mutual TLS, read from PEM and PKCS#12 files."""

from __future__ import annotations

import secrets
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.base import CertificateFiles
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose, usage_error
from inspector.text.limited_file import read_limited
from inspector.text.sanitise import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
    from cryptography.x509 import Certificate

_PEM = b"-----BEGIN "
_ENCRYPTED = b"ENCRYPTED"
"""Part of the header of an encrypted private key in PEM."""
_DER = b"\x30"
"""The first byte of a PKCS#12 file, which is an ASN.1 sequence."""
_LONGEST_NAME = 80
_LARGEST_FILE = 1024 * 1024
_FORMATS = "Use PEM files (the certificate, then its intermediate certificates, and the key), or a PKCS#12 file."

_ALGORITHMS = "Use a certificate with an RSA key, or with a key on the curve P-256, P-384 or P-521."


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate with its chain and its private key, both PEM without encryption, and the name in its subject.

    `files` are the files that it was read from, with absolute paths.
    """

    chain: bytes
    key: bytes = field(repr=False)
    name: str
    expires: datetime
    files: CertificateFiles = field(compare=False)

    def in_words(self) -> str:
        """Return the name of the certificate, and whether it has expired."""
        expired = f", expired on {self.expires:%Y-%m-%d}" if self.expires < datetime.now(UTC) else ""
        return f"client certificate {self.name}{expired}"

    def load_into(self, context: ssl.SSLContext) -> None:
        """Send the certificate in the handshakes of a TLS context.

        The library reads keys from files only. The key in the file is encrypted with a passphrase that is not stored.
        """
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - slow to load

        passphrase = secrets.token_bytes(32).hex()
        key = serialization.load_pem_private_key(self.key, None)
        encrypted = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(passphrase.encode("ascii")),
        )
        with TemporaryDirectory(prefix="a2a-inspect-") as folder:
            file = Path(folder, "certificate.pem")
            file.write_bytes(self.chain + encrypted)
            context.load_cert_chain(file, password=passphrase)


CertificateFor: TypeAlias = Callable[[str], ClientCertificate | None]
"""A function that returns the client certificate for a URL, None for none."""


def no_certificate(_url: str) -> None:
    """Return that no client certificate is used."""


class PassphraseError(FaultError):
    """Raised if a passphrase is missing or wrong; `file` is the file that needs it, `wrong` whether one was given."""

    def __init__(self, file: Path, *, wrong: bool) -> None:
        seen = f"{file} needs another passphrase, or is damaged." if wrong else f"{file} needs a passphrase."
        hint = "Enter it when it is asked for, or add --client-passphrase env:NAME with the name of a variable."
        super().__init__(Fault(Whose.YOURS, FaultCode.CREDENTIALS_MISSING, seen, hint))
        self.file = file
        self.wrong = wrong


def read_client_certificate(file: Path, key_file: Path | None = None, *, passphrase: str = "") -> ClientCertificate:
    """Read a certificate and its key, from the same file if there is no `key_file`.

    Raises `PassphraseError`, and `FaultError` for other problems.
    """
    data, absolute_key = _content(file), key_file.absolute() if key_file else None
    if _PEM in data:
        certificates = _pem_certificates(file, data)
        key_data = _content(key_file) if key_file else data
        key = _pem_key(key_file or file, key_data, passphrase)
        files = CertificateFiles(file.absolute(), absolute_key, is_encrypted=_ENCRYPTED in key_data)
    elif data.startswith(_DER) and key_file is None:
        key, certificates = _pkcs12(file, data, passphrase)
        files = CertificateFiles(file.absolute(), is_pkcs12=True, is_encrypted=bool(passphrase))
    else:
        raise usage_error(f"{file} is not a certificate with its key.", _FORMATS)
    with _supported(file):
        own = next((each for each in certificates if each.public_key() == key.public_key()), None)
    if own is None:
        raise usage_error(f"The key in {key_file or file} does not belong to the certificate in {file}.", _FORMATS)
    read = _client_certificate([own, *(each for each in certificates if each != own)], key, files)
    try:
        read.load_into(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    except ssl.SSLError as error:  # for example a key that is too short
        raise usage_error(f"{file} cannot be used for TLS: {error.reason or error}.") from error
    return read


def _content(file: Path) -> bytes:
    try:
        return read_limited(file, _LARGEST_FILE)
    except OSError as error:
        raise usage_error(f"{file} cannot be read: {error.strerror or error}.", _FORMATS) from error


@contextmanager
def _supported(file: Path) -> Iterator[None]:
    """Raise `FaultError` if a file has a curve or another algorithm that the library does not support."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - slow to load

    try:
        yield
    except UnsupportedAlgorithm as error:
        raise usage_error(f"{file} cannot be used: {clean_line(str(error), 200)}.", _ALGORITHMS) from error


def _pem_certificates(file: Path, data: bytes) -> Sequence[Certificate]:
    from cryptography import x509  # noqa: PLC0415 - slow to load

    try:
        return x509.load_pem_x509_certificates(data)
    except ValueError as error:
        raise usage_error(f"{file} has no valid certificate: {clean_line(str(error), 200)}.", _FORMATS) from error


def _pem_key(file: Path, data: bytes, passphrase: str) -> PrivateKeyTypes:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415 - slow to load

    encrypted = _ENCRYPTED in data
    if encrypted and not passphrase:
        raise PassphraseError(file, wrong=False)
    try:
        with _supported(file):
            return load_pem_private_key(data, passphrase.encode() if encrypted else None)
    except (ValueError, TypeError) as error:
        if encrypted:
            raise PassphraseError(file, wrong=True) from error
        raise usage_error(f"{file} has no valid private key.", f"{_FORMATS} --client-key names the file.") from error


def _pkcs12(file: Path, data: bytes, passphrase: str) -> tuple[PrivateKeyTypes, Sequence[Certificate]]:
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12  # noqa: PLC0415 - slow to load

    try:
        with _supported(file):
            content = load_pkcs12(data, passphrase.encode() or None)
    except ValueError as error:
        raise PassphraseError(file, wrong=bool(passphrase)) from error
    if content.key is None or content.cert is None:
        raise usage_error(f"{file} has no certificate with its key.", _FORMATS)
    return content.key, [content.cert.certificate, *(each.certificate for each in content.additional_certs)]


def _client_certificate(
    certificates: Sequence[Certificate], key: PrivateKeyTypes, files: CertificateFiles
) -> ClientCertificate:
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - slow to load

    return ClientCertificate(
        b"".join(each.public_bytes(serialization.Encoding.PEM) for each in certificates),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
        clean_line(_name(certificates[0]), _LONGEST_NAME),
        certificates[0].not_valid_after_utc,
        files,
    )


def _name(certificate: Certificate) -> str:
    """Return the common name of a certificate, else its first alternative name, else its subject."""
    from cryptography import x509  # noqa: PLC0415 - slow to load

    for attribute in certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME):
        return str(attribute.value)
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):  # ValueError: invalid extensions
        return certificate.subject.rfc4514_string()
    return next((str(name.value) for name in names), certificate.subject.rfc4514_string())
