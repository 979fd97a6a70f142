"""What hostile agents put into their texts, where they put it, and what a person should see of it."""

from __future__ import annotations

from typing import Any

from villain import Asked, Villain, answer, dump, stream

PAYLOADS: dict[str, tuple[str, str]] = {
    "set the clipboard": ("\x1b]52;c;aGk=\x1b\\", "␛]52;c;aGk=␛\\"),
    "set the clipboard, ended by a bell": ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
    "set the title": ("\x1b]0;evil\x07", "␛]0;evil␇"),
    "set the title otherwise": ("\x1b]2;evil\x1b\\", "␛]2;evil␛\\"),
    "a link with an end in its address": ("\x1b]8;;https://x/\x1b\\\x1b[2J", "␛]8;;https://x/␛\\␛[2J"),
    "clear": ("\x1b[2J\x1b[3J\x1b[H", "␛[2J␛[3J␛[H"),
    "leave the screen": ("\x1b[?1049l", "␛[?1049l"),
    "sixel": ("\x1bPq#0;2;0;0;0\x1b\\", "␛Pq#0;2;0;0;0␛\\"),
    "kitty picture": ("\x1b_Gf=100;AAAA\x1b\\", "␛_Gf=100;AAAA␛\\"),
    "privacy message": ("\x1b^pm\x1b\\", "␛^pm␛\\"),
    "start of string": ("\x1bXsos\x1b\\", "␛Xsos␛\\"),
    "ask where the cursor is": ("\x1b[6n", "␛[6n"),
    "ask what it is": ("\x1b[c", "␛[c"),
    "ask for the background": ("\x1b]11;?\x07", "␛]11;?␇"),
    "reset": ("\x1bc", "␛c"),
    "C1 CSI": ("\x9b2J", "‹U+009B›2J"),
    "C1 OSC": ("\x9d0;evil\x9c", "‹U+009D›0;evil‹U+009C›"),
    "overwrite": ("good\r\x08\x08bad", "good␍␈␈bad"),
    "nothing": ("\x00\x7f", "␀␡"),
    "a flood of bells": ("\x07" * 40, "␇" * 40),
    "right to left": ("\u202egnp.exe\u2066", "‹U+202E›gnp.exe‹U+2066›"),
    "zero width": ("a\u200bb\ufeffc\u2060d", "a‹U+200B›b‹U+FEFF›c‹U+2060›d"),
    "a line of its own": ("a\u2028b\u0085c", "a‹U+2028›b‹U+0085›c"),
    "never ends": ("\x1b]", "␛]"),
}
"""By name: what an agent sends, and how it is shown."""

MARKUP = ("[/", "[bold", "[@click=app.quit]x[/]", "[link=file:///etc/passwd]x", "[/@click]", "[$error]x[/]")
"""What Textual or Rich would take for markup."""

SPLIT = "ab\x1b", "[2Jcd"
"""An escape sequence in two halves, which become `ab␛[2Jcd`."""

FIELDS = (
    *("name", "description", "provider", "version", "documentation", "other url", "other binding", "other version"),
    *("skill name", "skill description", "tag", "example", "extension", "scheme", "scope", "member", "mode"),
    *("task", "context", "event", "comment", "status", "artifact name", "artifact id", "artifact text", "filename"),
    *("media type", "data key", "data value", "part url", "question", "response header", "reason"),
    *("error message", "error data", "result id", "pushed text", "pushed junk", "push header"),
)
"""The places for texts in what an agent sends."""

_TAGS = {name: f"q{number:02}" for number, name in enumerate(FIELDS)}


def evil(field: str) -> str:
    """Return the text that sets the clipboard from a field; its first eight characters say which, if ids are cut."""
    return f"{_TAGS[field]}\x1b]52;c;{_TAGS[field]}\x07"


C1 = f"{_TAGS['push header']}\x9b2J"
"""Hostile text for a head."""


def shown(field: str) -> tuple[str, ...]:
    """Return the ways in which the text of a field may be seen: as tokens, or escaped as in JSON."""
    return f"{_TAGS[field]}␛]52", rf"{_TAGS[field]}\u001b]52", f"{_TAGS[field]}‹U+009B›2J", rf"{_TAGS[field]}\u009b2J"


def members(name: str = "task") -> dict[str, str]:
    return {"taskId": evil(name), "contextId": evil("context")}


def status(state: str, text: str) -> dict[str, Any]:
    said = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}
    return {"statusUpdate": members() | {"status": {"state": f"TASK_STATE_{state}", "message": said}}}


def artifact(parts: list[Any], **more: Any) -> dict[str, Any]:
    return {"artifactUpdate": members() | {"artifact": {"artifactId": "a", "parts": parts} | more}}


CARD: dict[str, Any] = {
    "name": evil("name"),
    "description": evil("description"),
    "version": evil("version"),
    "provider": {"organization": evil("provider"), "url": "https://example.org"},
    "documentationUrl": evil("documentation"),
    "supportedInterfaces": [
        {
            "url": f"http://{evil('other url')}",
            "protocolBinding": evil("other binding"),
            "protocolVersion": evil("other version"),
        }
    ],
    "capabilities": {"streaming": True, "pushNotifications": True, "extensions": [{"uri": evil("extension")}]},
    "securitySchemes": {evil("scheme"): {"httpAuthSecurityScheme": {"scheme": evil("scheme")}}},
    "securityRequirements": [{"schemes": {evil("scheme"): {"list": [evil("scope")]}}}],
    "defaultInputModes": [evil("mode")],
    "defaultOutputModes": ["text/plain"],
    "skills": [
        {
            "id": "s",
            "name": evil("skill name"),
            "description": evil("skill description"),
            "tags": [evil("tag")],
            "examples": [evil("example")],
        }
    ],
    evil("member"): 1,
}


def say_everything(villain: Villain, asked: Asked) -> bytes | list[bytes]:
    """Answer with hostile text in every field: a stream, an error for `error`, a task for GetTask."""
    if asked.method == "GetTask":
        return answer(asked.result(a_task()))
    if asked.text == "push":
        return stream(asked.frame({"task": a_task()}))
    if asked.text == "error":
        return answer(
            asked.error(-32000, evil("error message"), [evil("error data")]),
            b"X-Evil: " + evil("response header").encode(),
            status=f"200 {evil('reason')}",
        )
    odd = asked.frame(status("WORKING", "odd")).replace(
        asked.rpc["id"].encode(), evil("result id").encode("unicode_escape").replace(rb"\x", rb"\u00")
    )
    return stream(
        b": " + evil("comment").encode() + b"\n\n",
        asked.frame({"task": a_task()}, head=b"event: " + evil("event").encode() + b"\n"),
        asked.frame(status("WORKING", evil("status"))),
        asked.frame(artifact([{"text": evil("artifact text")}], name=evil("artifact name"))),
        asked.frame(
            artifact(
                [{"raw": "AAAA", "filename": evil("filename"), "mediaType": evil("media type")}],
                artifactId=evil("artifact id"),
            )
        ),
        asked.frame(
            artifact([{"data": {evil("data key"): evil("data value")}}, {"url": evil("part url")}], artifactId="c")
        ),
        odd,
        asked.frame(status("INPUT_REQUIRED", evil("question"))),
        headers=[b"X-Evil: " + evil("response header").encode() + b"\x9b"],
    )


def a_task() -> dict[str, Any]:
    return {"id": evil("task"), "contextId": evil("context"), "status": {"state": "TASK_STATE_SUBMITTED"}}


def pushes(asked: Asked) -> list[tuple[bytes, bytes]]:
    """Return deliveries with hostile text in their bodies and heads; no server takes C0 controls in a head."""
    return [
        (b"", dump(status("INPUT_REQUIRED", evil("pushed text")))),
        (b"", evil("pushed junk").encode() + b"\x9b"),
        (b"X-Evil: " + C1.encode(), dump(status("INPUT_REQUIRED", evil("question")))),
        (b"X-Evil: " + evil("artifact text").encode(), b"{}"),
    ]
