"""The detected content of a part. Hostile cases 25 and 26."""

from __future__ import annotations

import base64
import hashlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.session.replay.file_content import decode, detect_type, dimensions, file_facts


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x02\0\0\0"


def jpeg(width: int, height: int) -> bytes:
    app = b"\xff\xe0\0\x04ab"
    return b"\xff\xd8" + app + b"\xff\xc0\0\x11\x08" + struct.pack(">HH", height, width) + b"\0" * 8


IMAGES = {
    "image/png": png(30_000, 20_000),
    "image/jpeg": jpeg(640, 480),
    "image/gif": b"GIF89a" + struct.pack("<HH", 7, 9),
    "image/bmp": b"BM" + b"\0" * 16 + struct.pack("<ii", 5, -6),
    "image/webp": b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + (99).to_bytes(3, "little") + (49).to_bytes(3, "little"),
}
SIZES = {
    "image/png": (30_000, 20_000),
    "image/jpeg": (640, 480),
    "image/gif": (7, 9),
    "image/bmp": (5, 6),
    "image/webp": (100, 50),
}


@pytest.mark.parametrize("media_type", IMAGES)
def test_case_26_the_pixels_of_an_image_are_read_from_its_head(media_type: str):
    facts = file_facts(IMAGES[media_type], media_type)
    assert (facts.looks_like, (facts.width, facts.height)) == (media_type, SIZES[media_type])
    assert facts.problems == ()


@pytest.mark.parametrize("media_type", IMAGES)
def test_a_truncated_head_has_no_dimensions_and_raises_nothing(media_type: str):
    for length in range(len(IMAGES[media_type])):
        assert dimensions(IMAGES[media_type][:length], media_type) in ((0, 0), SIZES[media_type])


@given(st.binary(max_size=200), st.sampled_from(sorted(IMAGES)))
def test_any_bytes_after_a_signature_are_read(content: bytes, media_type: str):
    width, height = dimensions(IMAGES[media_type][:12] + content, media_type)
    assert width >= 0
    assert height >= 0


def test_size_and_hash_are_those_of_the_decoded_bytes():
    content = bytes(range(256)) * 3
    facts = file_facts(content)
    assert (facts.size, facts.sha256) == (768, hashlib.sha256(content).hexdigest())


def test_case_25_a_false_media_type_is_a_problem():
    facts = file_facts(b"%PDF-1.7", "image/png")
    assert facts.problems == ("declared as image/png, but the content is application/pdf",)
    program = file_facts(b"MZ\x90", "text/plain")
    assert "portable-executable" in program.problems[0]


@pytest.mark.parametrize(
    ("declared", "content"),
    [
        ("image/jpg", jpeg(1, 1)),
        ("application/octet-stream", png(1, 1)),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"PK\x03\x04"),
        ("", b"GIF89a"),
        ("text/plain", b"just text"),
        ("text/plain", b"BMW builds cars"),
        ("text/plain", "ID3 is an algorithm für decision trees".encode()),
        ("text/plain", hashlib.sha256(b"a").hexdigest().encode()),
        ("text/plain", b"ACGT" * 1000),
    ],
)
def test_a_matching_media_type_is_not_a_problem(declared: str, content: bytes):
    assert file_facts(content, declared).problems == ()


def test_case_25_base64_within_base64_is_a_problem():
    once = base64.b64encode(png(1, 1) * 4)
    facts = file_facts(once, "image/png")
    assert "the content is encoded in base64 twice (image/png)" in facts.problems


def test_a_text_within_base64_is_a_problem():
    facts = file_facts(base64.b64encode(b"just text, " * 1000), "text/plain")
    assert facts.problems == ("the content is encoded in base64 twice",)


@pytest.mark.parametrize("encoded", ["!", "a", "aé==", "AA==AA", "A" * 5, "=" * 4, "AAAA\x00"])
def test_case_25_invalid_base64_is_not_decoded(encoded: str):
    assert decode(encoded) is None


@pytest.mark.parametrize("text", [b'<?xml version="1.0"?><svg/>', b"\xef\xbb\xbf <SVG>"])
def test_case_26_an_svg_is_detected_and_has_no_dimensions(text: bytes):
    facts = file_facts(text, "image/svg+xml")
    assert (facts.looks_like, facts.width) == ("image/svg+xml", 0)


def test_plain_text_has_no_detected_type():
    assert detect_type(b"Hello") == ""
