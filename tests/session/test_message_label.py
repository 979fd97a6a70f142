"""The label of a message: its texts and the numbers of its other parts, or else the names of its parts."""

from __future__ import annotations

import pytest

from inspector.protocol.model import Message, Part, Task, TaskStatus
from inspector.session.message_label import label_of, text_of
from inspector.session.payload import describe

TEXT = Part(text="hello")
FILE = Part(raw="aGk=", filename="report.pdf", media_type="application/pdf")
URL = Part(url="https://files.example/a.png")
DATA = Part(data={"a": 1})


@pytest.mark.parametrize(
    ("parts", "label"),
    [
        ([], ""),
        ([Part(text="")], ""),
        ([Part(text=""), Part(text="")], ""),
        ([TEXT, Part(text="again")], "hello again"),
        ([TEXT, FILE, DATA], "hello + 1 file, 1 data"),
        ([FILE, TEXT, FILE, URL, URL, DATA, DATA], "hello + 2 files, 2 urls, 2 data"),
        ([FILE, URL, DATA], "report.pdf, https://files.example/a.png, data"),
        ([Part(text=""), Part(raw="")], "file"),
        ([Part(data=None)], "data"),
        ([Part()], "empty part"),
        ([TEXT, Part(), Part()], "hello + 2 empty parts"),
    ],
)
def test_a_label_has_the_texts_and_what_else_is_in_a_message(parts: list[Part], label: str):
    message = Message(message_id="m", role="ROLE_AGENT", parts=parts)
    assert label_of(message) == label
    assert describe(message).label == label
    status = TaskStatus(state="TASK_STATE_WORKING", message=message)
    assert describe(Task(id="t", context_id="c", status=status)).label == label


def test_no_message_has_no_label():
    assert label_of(None) == ""


def test_the_text_of_a_message_is_that_of_its_text_parts():
    parts = [Part(text="one"), Part(url="http://x"), Part(text=""), Part(text="two")]
    assert text_of(Message(message_id="m", parts=parts)) == "one two"
    assert text_of(None) == ""
