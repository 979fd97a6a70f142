"""References to an agent: URLs, hosts and paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.text.reference import local_path, mistake_in_host, with_scheme, without_spelling


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("example.com", "https://example.com"),
        ("example.com/path?q=1", "https://example.com/path?q=1"),
        ("example.com:443", "https://example.com:443"),
        ("example.com:443/path", "https://example.com:443/path"),
        ("example.com:8080", "http://example.com:8080"),
        ("example.com:8080/path", "http://example.com:8080/path"),
        ("user:123@example.com", "https://user:123@example.com"),
        ("localhost", "http://localhost"),
        ("localhost:41241", "http://localhost:41241"),
        ("agent.localhost/x", "http://agent.localhost/x"),
        ("printer.local", "http://printer.local"),
        ("127.0.0.1", "http://127.0.0.1"),
        ("192.168.1.5:9000", "http://192.168.1.5:9000"),
        ("[::1]:9000", "http://[::1]:9000"),
        ("[::1]", "http://[::1]"),
        ("::1", "http://[::1]"),
        ("fe80::1", "http://[fe80::1]"),
        ("http://example.com", "http://example.com"),
        ("http:/127.0.0.1:9000/a", "http://127.0.0.1:9000/a"),
        ("HTTPS:/example.com", "HTTPS://example.com"),
        ("http:8080", "http://http:8080"),
        ("grpc:/127.0.0.1:9000", "grpc://127.0.0.1:9000"),
        ("https://localhost", "https://localhost"),
        ("ftp://example.com", "ftp://example.com"),
        ("[", "https://["),
        ("example.com:port", "https://example.com:port"),
        ("", "https://"),
    ],
)
def test_a_reference_is_completed_to_a_url(reference: str, url: str):
    assert with_scheme(reference) == url


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        ("./card.json", "card.json"),
        ("/tmp/card", "/tmp/card"),
        ("card.json", "card.json"),
        ("../x/y.json", "../x/y.json"),
        ("file:///tmp/a%20card.json", "/tmp/a card.json"),
    ],
)
def test_path_is_recognised_by_its_form(reference: str, path: str):
    assert local_path(reference) == Path(path)


def test_path_starts_with_the_home_folder(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/home/someone")
    assert local_path("~/card") == Path("/home/someone/card")


def test_name_of_an_existing_file_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert local_path("agent") is None
    Path("agent").write_text("{}", encoding="utf-8")
    assert local_path("agent") == Path("agent")


@pytest.mark.parametrize(
    "reference", ["example.com", "localhost:1", "http://h/card.json", "::1", "", "a\0b", "x" * 5000, "h/" * 3000]
)
def test_other_reference_is_not_a_path(reference: str):
    assert local_path(reference) is None


@pytest.mark.parametrize("reference", ["host:80", "http://host:80", "http:/host:80", "http://host:80/"])
def test_the_spelling_of_a_url_does_not_matter(reference: str):
    assert without_spelling(reference) == without_spelling("host:80/")


@pytest.mark.parametrize(
    "other", ["https://host:80", "http://host:81", "http://host:80/a", "./host:80", "grpc://host:80"]
)
def test_other_references_are_different(other: str):
    assert without_spelling(other) != without_spelling("host:80")


@pytest.mark.parametrize(
    ("reference", "is_wrong"),
    [
        ("weather agent", True),
        ("http://weather agent/a", True),
        ("host/a b", False),
        ("http://[", False),
        ("", False),
        ("http://user:a b@host/", False),
        ("http://user:canary x@a b", True),
    ],
)
def test_a_host_with_a_space_is_a_mistake(reference: str, is_wrong: bool):
    mistake = mistake_in_host(reference)
    assert bool(mistake) is is_wrong
    assert "canary" not in mistake
