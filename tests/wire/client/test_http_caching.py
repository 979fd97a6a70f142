"""The caching headers of a card."""

from __future__ import annotations

import pytest

from inspector.wire.client.http_caching import caching_of


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
