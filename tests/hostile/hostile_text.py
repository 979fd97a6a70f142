"""Hostile texts, the fields in which agents send them, and how they must be displayed."""

from __future__ import annotations

from typing import Any

from hostile_agent import HostileAgent, ReceivedRequest, answer, dump, stream

PAYLOADS: dict[str, tuple[str, str]] = {
    "set the clipboard": ("\x1b]52;c;aGk=\x1b\\", "␛]52;c;aGk=␛\\"),
    "set the clipboard, ended by a bell": ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
    "set the title": ("\x1b]0;evil\x07", "␛]0;evil␇"),
    "set the window title": ("\x1b]2;evil\x1b\\", "␛]2;evil␛\\"),
    "a link with an end in its address": ("\x1b]8;;https://x/\x1b\\\x1b[2J", "␛]8;;https://x/␛\\␛[2J"),
    "clear": ("\x1b[2J\x1b[3J\x1b[H", "␛[2J␛[3J␛[H"),
    "leave the screen": ("\x1b[?1049l", "␛[?1049l"),
    "sixel": ("\x1bPq#0;2;0;0;0\x1b\\", "␛Pq#0;2;0;0;0␛\\"),
    "kitty picture": ("\x1b_Gf=100;AAAA\x1b\\", "␛_Gf=100;AAAA␛\\"),
    "privacy message": ("\x1b^pm\x1b\\", "␛^pm␛\\"),
    "start of string": ("\x1bXsos\x1b\\", "␛Xsos␛\\"),
    "request the cursor position": ("\x1b[6n", "␛[6n"),
    "request the device attributes": ("\x1b[c", "␛[c"),
    "request the background colour": ("\x1b]11;?\x07", "␛]11;?␇"),
    "reset": ("\x1bc", "␛c"),
    "C1 CSI": ("\x9b2J", "‹U+009B›2J"),
    "C1 OSC": ("\x9d0;evil\x9c", "‹U+009D›0;evil‹U+009C›"),
    "overwrite": ("good\r\x08\x08bad", "good␍␈␈bad"),
    "NUL and DEL": ("\x00\x7f", "␀␡"),
    "many bells": ("\x07" * 40, "␇" * 40),
    "right to left": ("\u202egnp.exe\u2066", "‹U+202E›gnp.exe‹U+2066›"),
    "zero width": ("a\u200bb\ufeffc\u2060d", "a‹U+200B›b‹U+FEFF›c‹U+2060›d"),
    "Unicode line separators": ("a\u2028b\u0085c", "a‹U+2028›b‹U+0085›c"),
    "unterminated sequence": ("\x1b]", "␛]"),
}
"""By name: the text that an agent sends, and the text on the screen."""

MARKUP = ("[/", "[bold", "[@click=app.quit]x[/]", "[link=file:///etc/passwd]x", "[/@click]", "[$error]x[/]")
"""Texts that are markup for Textual or Rich."""

SPLIT = "ab\x1b", "[2Jcd"
"""An escape sequence in two halves; joined, they are displayed as `ab␛[2Jcd`."""

FIELDS = (
    *("name", "description", "provider", "version", "documentation", "other url", "other binding", "other version"),
    *("skill name", "skill description", "tag", "example", "extension", "scheme", "scope", "member", "mode"),
    *("task", "context", "event", "comment", "status", "artifact name", "artifact id", "artifact text", "filename"),
    *("media type", "data key", "data value", "part url", "question", "response header", "reason"),
    *("error message", "error data", "result id", "pushed text", "pushed junk", "push header"),
)
"""The fields of an agent that contain text."""

_TAGS = {name: f"q{number:02}" for number, name in enumerate(FIELDS)}


def hostile_text(field: str) -> str:
    """Return a text that sets the clipboard; its first characters identify the field, also if it is truncated."""
    return f"{_TAGS[field]}\x1b]52;c;{_TAGS[field]}\x07"


C1 = f"{_TAGS['push header']}\x9b2J"
"""Hostile text for a header."""


def shown(field: str) -> tuple[str, ...]:
    """Return the texts that may be displayed for a field: visible control characters, or JSON escapes."""
    return f"{_TAGS[field]}␛]52", rf"{_TAGS[field]}\u001b]52", f"{_TAGS[field]}‹U+009B›2J", rf"{_TAGS[field]}\u009b2J"


def members(name: str = "task") -> dict[str, str]:
    return {"taskId": hostile_text(name), "contextId": hostile_text("context")}


def status(state: str, text: str) -> dict[str, Any]:
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}
    return {"statusUpdate": members() | {"status": {"state": f"TASK_STATE_{state}", "message": message}}}


def artifact(parts: list[Any], **more: Any) -> dict[str, Any]:
    return {"artifactUpdate": members() | {"artifact": {"artifactId": "a", "parts": parts} | more}}


CARD: dict[str, Any] = {
    "name": hostile_text("name"),
    "description": hostile_text("description"),
    "version": hostile_text("version"),
    "provider": {"organization": hostile_text("provider"), "url": "https://example.org"},
    "documentationUrl": hostile_text("documentation"),
    "supportedInterfaces": [
        {
            "url": f"http://{hostile_text('other url')}",
            "protocolBinding": hostile_text("other binding"),
            "protocolVersion": hostile_text("other version"),
        }
    ],
    "capabilities": {"streaming": True, "pushNotifications": True, "extensions": [{"uri": hostile_text("extension")}]},
    "securitySchemes": {hostile_text("scheme"): {"httpAuthSecurityScheme": {"scheme": hostile_text("scheme")}}},
    "securityRequirements": [{"schemes": {hostile_text("scheme"): {"list": [hostile_text("scope")]}}}],
    "defaultInputModes": [hostile_text("mode")],
    "defaultOutputModes": ["text/plain"],
    "skills": [
        {
            "id": "s",
            "name": hostile_text("skill name"),
            "description": hostile_text("skill description"),
            "tags": [hostile_text("tag")],
            "examples": [hostile_text("example")],
        }
    ],
    hostile_text("member"): 1,
}


def respond_with_everything(hostile_agent: HostileAgent, request: ReceivedRequest) -> bytes | list[bytes]:
    """Respond with hostile text in every field: a stream, an error for `error`, a task for GetTask."""
    if request.method == "GetTask":
        return answer(request.result(a_task()))
    if request.text == "push":
        return stream(request.frame({"task": a_task()}))
    if request.text == "error":
        return answer(
            request.error(-32000, hostile_text("error message"), [hostile_text("error data")]),
            b"X-Evil: " + hostile_text("response header").encode(),
            status=f"200 {hostile_text('reason')}",
        )
    wrong_id = request.frame(status("WORKING", "odd")).replace(
        request.rpc["id"].encode(), hostile_text("result id").encode("unicode_escape").replace(rb"\x", rb"\u00")
    )
    return stream(
        b": " + hostile_text("comment").encode() + b"\n\n",
        request.frame({"task": a_task()}, head=b"event: " + hostile_text("event").encode() + b"\n"),
        request.frame(status("WORKING", hostile_text("status"))),
        request.frame(artifact([{"text": hostile_text("artifact text")}], name=hostile_text("artifact name"))),
        request.frame(
            artifact(
                [{"raw": "AAAA", "filename": hostile_text("filename"), "mediaType": hostile_text("media type")}],
                artifactId=hostile_text("artifact id"),
            )
        ),
        request.frame(
            artifact(
                [{"data": {hostile_text("data key"): hostile_text("data value")}}, {"url": hostile_text("part url")}],
                artifactId="c",
            )
        ),
        wrong_id,
        request.frame(status("INPUT_REQUIRED", hostile_text("question"))),
        headers=[b"X-Evil: " + hostile_text("response header").encode() + b"\x9b"],
    )


def a_task() -> dict[str, Any]:
    return {
        "id": hostile_text("task"),
        "contextId": hostile_text("context"),
        "status": {"state": "TASK_STATE_SUBMITTED"},
    }


def pushes(request: ReceivedRequest) -> list[tuple[bytes, bytes]]:
    """Return deliveries with hostile text in bodies and headers; servers reject C0 controls in headers."""
    return [
        (b"", dump(status("INPUT_REQUIRED", hostile_text("pushed text")))),
        (b"", hostile_text("pushed junk").encode() + b"\x9b"),
        (b"X-Evil: " + C1.encode(), dump(status("INPUT_REQUIRED", hostile_text("question")))),
        (b"X-Evil: " + hostile_text("artifact text").encode(), b"{}"),
    ]
