"""Base64 in all of its forms is decoded."""

from __future__ import annotations

import pytest

from inspector.text.any_base64 import decode_any_base64


@pytest.mark.parametrize("text", ["+/8=", "+/8", "-_8=", "-_8", "+_8"])
def test_all_alphabets_and_paddings_are_decoded(text: str):
    assert decode_any_base64(text) == b"\xfb\xff"


@pytest.mark.parametrize("text", ["A", "=A", "a b", "ä", "AA\n"])
def test_other_texts_are_not_decoded(text: str):
    assert decode_any_base64(text) is None
