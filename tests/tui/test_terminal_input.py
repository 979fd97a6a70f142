"""Input from a terminal: bytes that are not UTF-8, replies, pastes and impossible key codes never end the app."""

from __future__ import annotations

import os
import pty
import random
from contextlib import suppress

import pytest
from textual import events

from inspector.options import Options
from inspector.tui.app import InspectorApp
from inspector.tui.terminal_driver import InputReader, TerminalOutput
from inspector.tui.terminal_input import READ


def read(*chunks: bytes) -> list[str]:
    """Return the names of keys and the pasted texts in chunks of input, each followed by silence."""
    reader, found = InputReader(), []
    for chunk in chunks:
        messages = reader.feed(chunk)
        messages += reader.idle()
        found += [message.key if isinstance(message, events.Key) else message.text for message in messages]
    return found


def test_bytes_that_are_not_utf8_are_replaced():
    assert read(b"a\xffb", b"\xe2\x82", b"\xac") == ["a", "replacement_character", "b", "euro_sign"]


@pytest.mark.parametrize(
    "start", [b"\x1b]0;title", b"\x1b]11;rgb:ffff/ffff/ffff", b"\x1bP1$r0m", b"\x1b_Gi=1;OK", b"\x1b^x", b"\x1bXx"]
)
@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_reply_that_was_not_requested_presses_no_key(start: bytes, end: bytes):
    assert read(start + end + b"a") == ["a"]


def test_reply_without_an_end_ends_with_silence():
    assert read(b"\x1b]0;never", b"a") == ["a"]


def test_alt_with_the_first_character_of_a_reply_is_a_key():
    reader, messages = InputReader(), []
    assert reader.feed(b"\x1b]") == []
    while not messages:  # Textual waits 0.1 s for the rest of a sequence
        messages = reader.idle()
    assert [message.key for message in messages if isinstance(message, events.Key)] == ["right_square_bracket"]


@pytest.mark.parametrize(
    ("raw", "keys"),
    [
        (b"\x1bi", ["alt+i"]),
        (b"\x1biA longer text than any sequence.\t\x1b[A", ["alt+i", "A", "space", *"longer", "space", *"text"]),
        (b"\x1b\xc3\xa9x", ["alt+é", "x"]),
        (b"\x1bf\x1bx\x1b\x1bi", ["ctrl+right", "alt+x", "escape", "alt+i"]),
        (b"a\x1b\rb", ["a", "enter", "b"]),
    ],
)
def test_a_key_with_alt_is_complete_although_text_follows(raw: bytes, keys: list[str]):
    found = [message.key for message in InputReader().feed(raw) if isinstance(message, events.Key)]
    assert found[: len(keys)] == keys
    assert len(found) == len(keys) or found[-1] == "up"


def test_paste_keeps_control_characters_and_presses_no_key():
    assert read(b"\x1b[200~a\x1b]0;x\x07\x1b[2J\rb\x00\x1b[201~c") == ["a\x1b]0;x\x07\x1b[2J\rb", "c"]


def test_paste_and_sequences_may_be_split_between_full_reads():
    whole = b"\x1b[200~" + b"x" * (3 * READ) + b"\x1b[201~" + b"\x1b[A" * READ
    for shift in range(8):
        data = b"k" * shift + whole
        reader, found = InputReader(), []
        for start in range(0, len(data), READ):
            found += reader.feed(data[start : start + READ])
        found += reader.idle()
        keys = [message.key for message in found if isinstance(message, events.Key)]
        assert [len(message.text) for message in found if isinstance(message, events.Paste)] == [3 * READ]
        assert keys == ["k"] * shift + ["up"] * READ


@pytest.mark.parametrize("code", [b"\x1b[1114112u", b"\x1b[99999999999u", b"\x1b[:9P", b"\x1b[1:u"])
def test_impossible_key_code_is_ignored(code: bytes):
    assert read(code, b"a") == ["a"]


def test_key_that_cannot_be_encoded_is_replaced():
    assert read(b"\x1b[55296u") == ["replacement_character"]


def test_no_bytes_raise_an_error():
    generator = random.Random(11)
    pieces = [
        b"\x1b",
        b"[",
        b"]",
        b"0",
        b"9999999",
        b"55296",
        b";",
        b":",
        b"<",
        b"M",
        b"R",
        b"u",
        b"t",
        b"~",
        b"?",
        b"$y",
        b"\xff",
        b"\x9b",
        b"\x07",
        b"P",
        b"200~",
    ]
    reader = InputReader()
    for _ in range(5_000):
        for message in reader.feed(b"".join(generator.choices(pieces, k=generator.randint(1, 12)))):
            if isinstance(message, events.Key) and message.character:
                message.character.encode()
        reader.idle()


async def test_error_outside_of_the_event_loop_has_an_exit_code():
    app = InspectorApp(Options())
    async with app.run_test():
        app.panic("the input thread failed")
    assert app.return_code == 1


def test_writing_to_a_closed_terminal_is_not_an_error():
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w") as terminal:
        output = TerminalOutput(terminal)
        output.write("shown")
        output.flush()
        assert os.read(leader, 100) == b"shown"
        os.close(leader)
        for _ in range(3):
            output.write("discarded")
            output.flush()
        with suppress(OSError):  # the buffer of the file still has the text
            terminal.close()
