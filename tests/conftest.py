"""Settings of all tests: Ctrl+C, garbage collection, examples of properties, captures that do not wait for the disk."""

import functools
import gc
import os
import signal
import ssl
from typing import Any

import httpx
import pytest
from httpx._transports import default as httpx_transports
from hypothesis import HealthCheck, settings
from properties import ALL, QUARTER, RANDOM

from inspector.capture import file_format

# A background job of a script ignores Ctrl+C, as do the programs that it starts; tests press Ctrl+C in some of them.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No example fails because it is slow: the machine may be busy.
_UNTIMED: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
# The examples are the same in every run, so that a run fails only because of a change; `make fuzz` tries others.
settings.register_profile(QUARTER, max_examples=25, derandomize=True, **_UNTIMED)  # in `make test`
settings.register_profile(ALL, max_examples=100, derandomize=True, **_UNTIMED)  # in `make test-slow`
settings.register_profile(RANDOM, max_examples=1000, **_UNTIMED)  # in `make fuzz`
settings.load_profile(QUARTER)  # the option --hypothesis-profile replaces it before tests are collected

_MOST_OBJECTS = 500_000
"""The number of new objects after which a test is interrupted by a garbage collection."""

gc.disable()  # until pytest has collected all tests


def pytest_collection_finish() -> None:
    """Exclude the collected tests and modules from garbage collection, which none of them needs, and collect seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_MOST_OBJECTS, 1, 1)
    gc.enable()


# Only a crash of the system could lose what is not on the disk yet. Waiting for it needs 20 ms for each capture.
_SYNCHRONOUS, file_format.SYNCHRONOUS = file_format.SYNCHRONOUS, "OFF"


# A client of httpx loads the certificates of 140 authorities, which needs 20 ms; most tests send one request with it.
@functools.cache
def _loaded_certificates(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    return httpx.create_ssl_context()


def _create_ssl_context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
    if verify is True and not cert and trust_env:
        return _loaded_certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    return httpx.create_ssl_context(verify, cert, trust_env)


httpx_transports.create_ssl_context = _create_ssl_context


@pytest.fixture
def waits_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let captures wait for the disk, as outside of the tests."""
    monkeypatch.setattr(file_format, "SYNCHRONOUS", _SYNCHRONOUS)
