"""Files with client certificates, and TLS servers that require one, for tests with real sockets."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import trustme
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509 import load_pem_x509_certificate
from stream_servers import serving_bytes

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


def write_pem(folder: Path, name: str, issued: trustme.LeafCert) -> tuple[Path, Path]:
    """Write a certificate and its key to two files."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}-key.pem"
    certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    return certificate, key


def encrypted_key(issued: trustme.LeafCert, passphrase: str) -> bytes:
    """Return the key in PEM, encrypted with a passphrase."""
    key = serialization.load_pem_private_key(issued.private_key_pem.bytes(), None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(passphrase.encode()),
    )


def pkcs12_file(issued: trustme.LeafCert, passphrase: str) -> bytes:
    """Return a PKCS#12 file with the certificate, its intermediate certificates and the key."""
    key = serialization.load_pem_private_key(issued.private_key_pem.bytes(), None)
    own, *others = [load_pem_x509_certificate(blob.bytes()) for blob in issued.cert_chain_pems]
    encryption = (
        serialization.BestAvailableEncryption(passphrase.encode()) if passphrase else serialization.NoEncryption()
    )
    assert isinstance(key, EllipticCurvePrivateKey)
    return pkcs12.serialize_key_and_certificates(b"client", key, own, others, encryption)


def _read_request(connection: ssl.SSLSocket) -> None:
    """Read a whole request: closing a socket with unread bytes would reset the connection."""
    received = connection.recv(65536)
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    declared = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
    missing = (int(declared[1]) if declared else 0) - len(body)
    while missing > 0:
        missing -= len(connection.recv(65536))


def _close_after_alert(connection: ssl.SSLSocket) -> None:
    """Read what the client sent in the meantime: closing a socket with unread bytes would replace the alert."""
    with socket.socket(fileno=connection.detach()) as raw, suppress(OSError):
        raw.shutdown(socket.SHUT_WR)
        while raw.recv(65536):
            pass


@contextmanager
def requiring_certificates(authority: trustme.CA, version: ssl.TLSVersion) -> Iterator[tuple[str, list[str]]]:
    """Serve HTTP with blocking sockets, which send TLS alerts; yield `host:port`, and the names of the clients."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    context.maximum_version = version
    context.set_alpn_protocols(["h2", "http/1.1"])
    names: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:  # closed
                    return
                with context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) as secured:
                    try:
                        secured.do_handshake()
                    except OSError:  # refused: the client gets the alert
                        _close_after_alert(secured)
                        continue
                    peer = secured.getpeercert() or {}
                    names.append(str(peer.get("subjectAltName")))
                    _read_request(secured)
                    secured.sendall(ANSWER)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        host, port = listening.getsockname()
        yield f"{host}:{port}", names
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


@asynccontextmanager
async def tunnel() -> AsyncIterator[str]:
    """Serve an HTTP proxy that connects to any address (CONNECT), and yield its URL."""

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        host, _, port = head.split()[1].decode("ascii").partition(":")
        upstream = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(copy(reader, upstream[1]), copy(upstream[0], writer))

    async with serving_bytes(connect) as place:
        yield f"http://{place}"
