from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.tui.render.hexdump import HexDump, raw_text


def drawn(lines) -> list[str]:
    return ["".join(text for text, _ in lines.line(index)) for index in range(len(lines))]


def test_rows_have_an_offset_the_bytes_and_their_letters() -> None:
    assert drawn(HexDump(b'{"a":\x00\xff\n1}, and more')) == [
        '0000  7b 22 61 22 3a 00 ff 0a  31 7d 2c 20 61 6e 64 20  {"a":...1}, and ',
        "0010  6d 6f 72 65                                       more",
    ]


@given(st.binary(max_size=200), st.integers(1, 100))
def test_the_bytes_can_be_read_back_at_any_width(raw: bytes, width: int) -> None:
    dump = HexDump(raw)
    dump.layout(width, 0)
    rows = [dump.line(index) for index in range(len(dump))]
    assert bytes.fromhex("".join(row[1][0] for row in rows)) == raw
    assert len({len(row[1][0]) for row in rows}) <= 1


def test_a_narrow_view_has_fewer_bytes_in_a_row_and_stays_at_the_same_byte() -> None:
    dump = HexDump(bytes(1000))
    assert dump.layout(40, 10) == 20
    assert max(map(len, drawn(dump))) <= 40
    assert dump.layout(80, 20) == 10


def test_drawing_a_row_does_not_read_all_bytes() -> None:
    dump = HexDump(bytes(50_000_000))
    assert len(dump) == 3_125_000
    assert dump.line(3_124_999)[0][0] == "2faf070  "


def test_text_shows_its_line_ends() -> None:
    assert drawn(raw_text(b"data: x\r\n\r\nlone\rreturn\nend")) == ["data: x␍␊", "␍␊", "lone␍return␊", "end"]


def test_bytes_that_are_not_utf_8_are_replaced_and_controls_are_tokens() -> None:
    assert drawn(raw_text(b"\xff\x1b[2J\t|")) == ["\ufffd␛[2J   |"]


def test_text_beyond_the_limit_is_counted() -> None:
    assert drawn(raw_text(b"x" * 100, limit=10)) == ["x" * 10, "… 90 more characters are not shown"]


def test_no_bytes_are_no_lines() -> None:
    assert len(HexDump(b"")) == 0
    assert len(raw_text(b"")) == 0
