"""The caching headers of a card."""

from __future__ import annotations

import pytest

from inspector.wire.client.http_caching import caching_of, confirmed


def test_all_caching_headers_are_read():
    caching = caching_of(
        (
            ("ETag", 'W/"1"'),
            ("last-modified", "Fri, 20 Nov 2026"),
            ("Cache-Control", "public, Max-Age=60"),
            ("AGE", "7"),
        )
    )
    assert (caching.max_age, caching.age) == (60, 7)
    assert caching.fresh_until(1000.0) == 1053.0
    assert caching.conditions == {"If-None-Match": 'W/"1"', "If-Modified-Since": "Fri, 20 Nov 2026"}
    assert caching.words() == 'ETag W/"1", last modified Fri, 20 Nov 2026, public, Max-Age=60, 7 s old when received'


def test_without_caching_headers_there_are_no_conditions():
    caching = caching_of((("Content-Type", "application/json"),))
    assert caching.conditions == {}
    assert (caching.max_age, caching.age) == (None, None)
    assert caching.fresh_until(1000.0) is None
    assert caching.words().startswith("no caching headers")


@pytest.mark.parametrize("age", ["", "x", "-1", "1.5", "٣", "9" * 5000, '"'])
def test_an_invalid_age_is_ignored(age):
    caching = caching_of((("Age", age), ("Cache-Control", f"max-age={age}")))
    assert (caching.max_age, caching.age) == (None, None)


@pytest.mark.parametrize("control", ["max-age=60, no-cache", "No-Store, max-age=60"])
def test_a_card_that_must_not_be_reused_is_never_fresh(control: str):
    caching = caching_of((("Cache-Control", control),))
    assert caching.fresh_until(1000.0) is None
    assert control in caching.words()


def test_a_directive_that_names_headers_restricts_only_these():
    caching = caching_of((("Cache-Control", 'max-age=60, no-cache="Set-Cookie"'),))
    assert caching.fresh_until(1000.0) == 1060.0


def test_a_confirmation_replaces_the_caching_headers_and_ends_the_age():
    stored = (
        ("ETag", "1"),
        ("Cache-Control", "max-age=60"),
        ("Age", "50"),
        ("Content-Type", "application/json"),
        ("X", "1"),
    )
    after = confirmed(stored, (("cache-control", "max-age=10"), ("content-type", "text/plain"), ("etag", "1")))
    assert after == (
        ("Content-Type", "application/json"),
        ("X", "1"),
        ("cache-control", "max-age=10"),
        ("etag", "1"),
    )
    assert caching_of(after).fresh_until(1000.0) == 1010.0
