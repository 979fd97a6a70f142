"""Faults of push notifications."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .fault import FaultRegistry, Level, Post

PUSHES = FaultRegistry(Level.PUSH)
REGISTRIES = (PUSHES,)

_CONTENT = "content-type"


@PUSHES.fault("push-late", "delays every push", "", number="seconds", default=5)
def push_late(post: Post, seconds: float) -> Iterable[Post]:
    return [replace(post, after=post.after + seconds)]


@PUSHES.fault("push-twice", "sends every push twice", "")
def push_twice(post: Post) -> Iterable[Post]:
    return [post, post]


@PUSHES.fault("push-never", "sends no push", "")
def push_never(_: Post) -> Iterable[Post]:
    return []


@PUSHES.fault("push-unsigned", "sends pushes without token and Authorization", "PUSH-001")
def push_unsigned(post: Post) -> Iterable[Post]:
    remaining = {name: value for name, value in post.headers.items() if name.lower() == _CONTENT}
    return [replace(post, headers=remaining)]


@PUSHES.fault("push-wrong-token", "sends pushes with a wrong token", "PUSH-001")
def push_wrong_token(post: Post) -> Iterable[Post]:
    wrong = {
        name: value if name.lower() == _CONTENT else f"{value.partition(' ')[0]} wrong" if " " in value else "wrong"
        for name, value in post.headers.items()
    }
    return [replace(post, headers=wrong)]


@PUSHES.fault("push-content-type", "sends the body of a push as text/plain", "PUSH-005")
def push_content_type(post: Post) -> Iterable[Post]:
    return [replace(post, headers={**post.headers, "Content-Type": "text/plain"})]


@PUSHES.fault("push-malformed", "omits the last brace of a push", "PUSH-003")
def push_malformed(post: Post) -> Iterable[Post]:
    return [replace(post, body=post.body[:-1])]
