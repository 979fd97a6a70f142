"""The differences between two moments: states, messages, artifacts, and their text line by line."""

from __future__ import annotations

import time
from typing import Any

from scripted import artifact, status, task

from inspector.protocol.assemble import AssembledTask
from inspector.protocol.dialects import v1_0
from inspector.protocol.model import Unreadable
from inspector.session.replay.task_diff import MOST_LINES, DiffLine, Sign, TaskDiff, compare_tasks, line_difference


def folded(*events: Any) -> AssembledTask:
    account = AssembledTask("t")
    for at, value in enumerate(events):
        event = v1_0.decode_event(value)
        assert not isinstance(event, Unreadable)
        account.apply(event, float(at))
    return account


def change(before: list[Any], after: list[Any]) -> TaskDiff:
    return compare_tasks(folded(*before), folded(*before, *after))


def signs(lines: list[DiffLine]) -> list[tuple[str, str]]:
    return [(line.sign.value, line.text) for line in lines]


BEGUN = [{"task": task("SUBMITTED")}, status("WORKING", "reading"), artifact("one\n", name="a")]


def test_states_messages_and_chunks_are_compared():
    done = {"statusUpdate": status("COMPLETED", "written")["statusUpdate"]}
    done["statusUpdate"]["status"]["message"]["messageId"] = "m2"
    found = change(BEGUN, [artifact("two\n", name="a", append=True), done])
    assert found.words == "state changed from working to completed, artifact a has 1 more chunk, 1 more message"
    assert ([move.state for move in found.moves], found.messages, found.events) == (
        ["TASK_STATE_COMPLETED"],
        ("written",),
        2,
    )
    [one] = found.artifacts
    assert signs(list(one.lines)) == [(" ", "one"), ("+", "two")]


def test_a_moment_does_not_differ_from_itself():
    found = change(BEGUN, [])
    assert found.is_empty
    assert (found.words, found.artifacts) == ("nothing changed", ())


def test_before_its_first_event_a_task_is_empty():
    found = compare_tasks(None, folded(*BEGUN))
    assert found.words.startswith("state changed from unknown to working, artifact a is new")
    assert [artifact.how for artifact in found.artifacts] == ["new"]


def test_messages_that_only_the_history_has_are_counted():
    said = [{"messageId": f"m-{number}", "role": "ROLE_USER", "parts": [{"text": "hi"}]} for number in range(3)]
    none, one, three = ({"task": task("WORKING") | {"history": said[:count]}} for count in (0, 1, 3))
    assert change([none], [one]).words == "history +1 message"
    assert change([none], [three]).words == "history +3 messages"


def test_replaced_and_new_artifacts_and_other_parts_are_compared():
    file = {"artifactId": "f", "parts": [{"url": "https://example.com/a.png"}, {"data": {"n": 1}}]}
    found = change(BEGUN, [artifact("other\n", name="a"), {"artifactUpdate": {"taskId": "t", "artifact": file}}])
    assert [(artifact.name, artifact.how, artifact.parts) for artifact in found.artifacts] == [
        ("a", "replaced", 0),
        ("f", "new", 2),
    ]
    assert signs(list(found.artifacts[0].lines)) == [("-", "one"), ("+", "other")]
    assert [line.text for line in found.artifacts[1].others] == [
        '{"url":"https://example.com/a.png"}',
        '{"data":{"n":1}}',
    ]


def test_an_artifact_that_is_only_closed_is_reported_as_complete():
    found = change(BEGUN, [artifact("", name="a", append=True, lastChunk=True)])
    assert found.words == "artifact a is complete"


def test_a_whole_task_that_repeats_a_complete_artifact_changes_nothing():
    begun = [*BEGUN, artifact("two\n", name="a", append=True, lastChunk=True)]
    whole = {"task": task("WORKING", {"artifactId": "a", "parts": [{"text": "one\ntwo\n"}]})}
    found = change(begun, [whole])
    assert (found.words, found.is_empty) == ("nothing changed", True)


def test_an_artifact_with_only_another_name_is_renamed():
    chunk = artifact("", name="a", append=True)
    chunk["artifactUpdate"]["artifact"]["name"] = "b"
    found = change(BEGUN, [chunk])
    assert found.words == "artifact b was renamed"


def test_a_line_with_appended_text_is_one_line():
    assert line_difference("a\nthe report says", "a\nthe report says more\nand ends")[1:] == [
        DiffLine(Sign.LONGER, " more", "the report says"),
        DiffLine(Sign.ADDED, "and ends"),
    ]


def test_long_lines_are_shown_from_their_first_difference():
    same = "x" * 10_000
    removed, added = line_difference(f"{same}old", f"{same}new")
    assert (removed.text, added.text) == (f"…{'x' * 24}old", f"…{'x' * 24}new")


def test_unchanged_lines_are_counted_and_not_listed():
    before = [f"line {number}" for number in range(100)]
    after = [*before[:50], "new", *before[50:]]
    assert signs(line_difference("\n".join(before), "\n".join(after))) == [
        (":", "49 unchanged lines"),
        (" ", "line 49"),
        ("+", "new"),
        (" ", "line 50"),
    ]


def test_a_huge_difference_is_limited_in_time_and_length():
    before, after = ("\n".join(f"{kind} {number}" for number in range(100_000)) for kind in ("old", "new"))
    started = time.process_time()
    lines = line_difference(before, after)
    assert time.process_time() - started < 2
    assert len(lines) == MOST_LINES + 1
    assert "more lines" in lines[-1].text
