"""The receiver over TLS, with a certificate that the user gives."""

from __future__ import annotations

import ssl
from pathlib import Path

import httpx
import pytest
import trustme
from receiving import BODY, opened

from inspector.protocol.errors import FaultError, Whose
from inspector.wire.place import Place, tls_context


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


def written(folder: Path, cert: trustme.LeafCert) -> tuple[Path, Path]:
    chain, key = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(b"".join(one.bytes() for one in cert.cert_chain_pems))
    key.write_bytes(cert.private_key_pem.bytes())
    return chain, key


async def test_a_receiver_with_a_certificate_speaks_https(authority: trustme.CA, tmp_path: Path):
    chain, key = written(tmp_path, authority.issue_cert("127.0.0.1"))
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    async with opened(tls=tls_context(chain, key)) as desk, httpx.AsyncClient(verify=trusting) as client:
        assert desk.hook.url.startswith("https://127.0.0.1:")
        headers = {"X-A2A-Notification-Token": desk.hook.token, "Content-Type": "application/json"}
        answer = await client.post(desk.hook.url, content=BODY, headers=headers)
        assert answer.status_code == 204
        assert (await desk.inbox.one()).body == BODY


def test_certificate_and_key_may_stand_in_one_file(authority: trustme.CA, tmp_path: Path):
    both = tmp_path / "both.pem"
    both.write_bytes(authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.bytes())
    assert isinstance(tls_context(both), ssl.SSLContext)


def test_the_usual_port_of_https_may_be_left_out_of_host():
    assert "127.0.0.1" in Place.at("127.0.0.1", 443, tls=True).hosts
    assert "127.0.0.1" not in Place.at("127.0.0.1", 443).hosts


@pytest.mark.parametrize("content", [None, b"", b"no certificate"], ids=["absent", "empty", "something else"])
def test_what_is_no_certificate_is_the_fault_of_the_command(tmp_path: Path, content: bytes | None):
    path = tmp_path / "cert.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FaultError) as raised:
        tls_context(path)
    assert raised.value.fault.whose is Whose.YOURS
    assert raised.value.fault.hint


def test_a_key_of_another_certificate_is_refused(authority: trustme.CA, tmp_path: Path):
    chain, _ = written(tmp_path, authority.issue_cert("127.0.0.1"))
    other = tmp_path / "other.pem"
    other.write_bytes(authority.issue_cert("127.0.0.1").private_key_pem.bytes())
    with pytest.raises(FaultError):
        tls_context(chain, other)
