"""A request as a Python program over httpx that sends the same bytes."""

from __future__ import annotations

from inspector.protocol.bindings.base import CertificateFiles, GrpcRequest, HttpRequest, WireRequest
from inspector.protocol.errors import usage_error
from inspector.session.exchange import CallContext
from inspector.session.exporters.curl import PASSPHRASE, text_of

_PKCS12_IMPORTS = """\
from cryptography.hazmat.primitives.serialization import {encryption}, Encoding, PrivateFormat
from cryptography.hazmat.primitives.serialization.pkcs12 import load_key_and_certificates"""
_PKCS12 = """\
with open({path!r}, "rb") as file:
    key, own, others = load_key_and_certificates(file.read(), passphrase)
pem = [key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, {encryption}({argument}))]
pem += [certificate.public_bytes(Encoding.PEM) for certificate in (own, *others)]
with tempfile.NamedTemporaryFile() as file:  # the ssl module reads PEM only
    file.write(b"".join(pem))
    file.flush()
    tls.load_cert_chain(file.name, password=passphrase)"""


def write(wire: WireRequest, _: CallContext | None = None) -> str:
    """Write a request as a Python program over httpx; raises `FaultError` for a gRPC call."""
    if isinstance(wire, GrpcRequest):
        raise usage_error("httpx does not support gRPC.", "Use curl instead.")
    if wire.splices:
        raise usage_error("A large file does not fit into a program.", "Send it with a2a-inspect send --file.")
    content = text_of(wire.body)
    lines = [*_imports(wire.certificate), "", f"headers = {_table(wire)}"]
    lines.append(f"content = {wire.body!r}" if content is None else f"content = {content!r}.encode()")
    options = "headers=headers, content=content, timeout=None"
    if wire.certificate is not None:
        lines += _tls_context(wire.certificate)
        options += ", verify=tls"
    call = f"httpx.stream({wire.method!r}, {wire.url!r}, {options})"
    lines += [f"with {call} as response:", "    print(response.status_code, response.headers)"]
    return "\n".join([*lines, "    for line in response.iter_lines():", "        print(line)", ""])


def _imports(files: CertificateFiles | None) -> list[str]:
    standard = [
        *(["import os"] if files and files.is_encrypted else []),
        *(["import tempfile"] if files and files.is_pkcs12 else []),
    ]
    others = ["import httpx"]
    if files and files.is_pkcs12:
        others.append(_PKCS12_IMPORTS.format(encryption=_encryption(files)))
    return [*standard, *([""] if standard else []), *others]


def _encryption(files: CertificateFiles) -> str:
    return "BestAvailableEncryption" if files.is_encrypted else "NoEncryption"


def _tls_context(files: CertificateFiles) -> list[str]:
    """Return the lines that load a client certificate; its passphrase is read from the environment."""
    passphrase = f'os.environ["{PASSPHRASE}"].encode()' if files.is_encrypted else "None"
    lines = [f"passphrase = {passphrase}", "tls = httpx.create_ssl_context()"]
    if files.is_pkcs12:
        argument = "passphrase" if files.is_encrypted else ""
        return [*lines, _PKCS12.format(path=str(files.certificate), encryption=_encryption(files), argument=argument)]
    key = str(files.key) if files.key else None
    return [*lines, f"tls.load_cert_chain({str(files.certificate)!r}, {key!r}, passphrase)"]


def _table(wire: HttpRequest) -> str:
    # httpx encodes a str as ASCII; bytes of a terminal that are not UTF-8 are lone surrogates.
    values = {
        name: value if value.isascii() else value.encode("utf-8", "surrogateescape")
        for name, value in wire.headers.items()
    }
    return "{\n" + "".join(f"    {name!r}: {value!r},\n" for name, value in values.items()) + "}"
