"""The search for many values finds what a search for each value finds, in time that does not depend on their number."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.capture.multi_search import MultiSearch
from inspector.capture.redaction import Redactor

FEW_LETTERS = st.text("ab-\U0001f600", min_size=4, max_size=8)


@given(st.lists(FEW_LETTERS), st.text("ab-\U0001f600.", max_size=60))
def test_every_value_is_found(values: list[str], text: str):
    search = MultiSearch(values)
    found = {value for value in values if value in text}
    assert search.found_in(text) == found
    assert search.any_in(text) is bool(found)


@given(st.lists(st.binary(min_size=4, max_size=6)), st.binary(max_size=60), st.data())
def test_every_value_is_found_in_bytes(values: list[bytes], raw: bytes, data: st.DataObject):
    raw += data.draw(st.sampled_from(values)) if values else b""
    assert MultiSearch(values).found_in(raw) == {value for value in values if value in raw}


def test_a_value_may_have_any_characters():
    odd = ["a.*b", "(((((", "[^]]", "\\\\\\\\", "\n\n\n\n", "\x00\x00\x00\x00", "####", "    "]
    assert MultiSearch(odd).found_in("".join(odd)) == set(odd)


def test_a_short_value_is_an_error():
    with pytest.raises(ValueError, match="shorter"):
        MultiSearch(["long enough", "abc"])


@pytest.mark.parametrize("form", ["key-{:08}", "{:012}", "{:x}-shared-end", "{0:04}{0:01000}"], ids=str)
def test_the_time_of_masking_does_not_depend_on_the_number_of_secrets(form: str):
    text = "the customer has a key, and the number is 123456789012. \\u0041 " * 40
    body = f'{{"text": "{text}"}}'.encode()

    def seconds(secrets: int) -> float:
        redactor = Redactor(form.format(number + 10**7) for number in range(secrets))
        redactor.body(body)  # prepare the search
        began = time.process_time()
        for number in range(20):
            redactor.text(f"{number} {text}")
            redactor.body(body)
        return time.process_time() - began

    assert seconds(8_000) < 4 * seconds(500) + 0.02
