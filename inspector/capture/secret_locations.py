"""Mask secrets that are recognized by their location: members, parameters with certain names, and userinfo of URLs.

The texts come from agents, so every function is linear in their length (`tests/hostile/test_linear_time.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from string import ascii_letters, digits
from urllib.parse import unquote_plus

MASK = "****"
"""The replacement of a secret."""

_ENDINGS = ("accesstoken", "refreshtoken", "idtoken", "secret", "password", "passwd", "apikey", "authorization")
_NAMES = frozenset({"cookie", "setcookie", "passphrase", "pwd", "privatekey", "secretkey", "secretaccesskey"})
"""Members that are always secret, without case and punctuation: names with these endings, and these names."""

_AMBIGUOUS = frozenset({"credentials", "credential", "bearer", "jwt"})
"""Members that are secret if their value looks like a secret, as those whose name ends with `token`."""

_LOOKS_SECRET = re.compile(r"(?=[^\s\"\\]{8})[^\s\"\\]{0,64}?[0-9]")
"""A value that looks like a secret: it begins with 8 characters without white space, and has a digit.

The tokens of a language model, which some agents stream in a member `token`, do not look like this.
"""

_PUSH_MEMBERS = frozenset({"token", "credentials"})
_PARAMETERS = frozenset({"key", "pwd", "passwd", "sig", "code", "auth", "authorization", "credentials", "jwt"})
_PARAMETER_ENDINGS = ("token", "secret", "apikey", "password", "signature")
_OPEN = frozenset({"pagetoken", "nextpagetoken", "validationtoken", "continuationtoken"})
"""Names that end with `token` but are not secret: page tokens, and the token of webhook validation."""

_LAST_LETTERS = (
    *("oken", "cret", "word", "sswd", '"pwd', "rase", "tial", "ials", "okie"),
    *("arer", '"jwt', "ikey", "_key", "-key", "ekey", "tkey", "skey", "tion"),
)
"""The last letters of names that may be secret; `tion` is the end of `zation`."""


def _name_end(delimiter: str, after: str = "") -> str:
    """Return a pattern for the delimiter after a name that may be secret, and for what follows.

    It begins with the delimiter, which is the fastest to search. A set of letters for each of the last four places is
    compared before the letters, because it excludes most names in one step.
    """
    columns = (sorted({*column, *column.upper()}) for column in map("".join, zip(*_LAST_LETTERS, strict=True)))
    sets = "".join(f"[{re.escape(''.join(column))}]" for column in columns)
    letters = "|".join(_LAST_LETTERS[:-1])
    return rf"{delimiter}(?<={sets}{delimiter}){after}(?i:(?<=(?:{letters}){delimiter})|(?<=zation{delimiter}))"


_COLON = r"(?=[ \t\r\n]*+:)"
_MEMBER_END = re.compile(_name_end('"', _COLON))
_INNER_END = re.compile(_name_end(r'\\"', _COLON))
_FIELD_END = re.compile(_name_end("="))

_MAY_BE_MEMBER, _MAY_BE_INNER, _MAY_BE_FIELD = (
    re.compile(pattern.pattern.encode()) for pattern in (_MEMBER_END, _INNER_END, _FIELD_END)
)
"""The same for bytes."""

_LONGEST_NAME = 64
_NAME_CHARACTERS = f"{ascii_letters}{digits}_.-"
_VALUE = re.compile(
    r"[ \t\r\n]*+:[ \t\r\n]*+(?:\"((?:[^\"\\]|\\.)[^\"\\]*+(?:\\.[^\"\\]*+)*)|(-?[0-9][0-9.eE+-]*+))", re.DOTALL
)
_INNER_ESCAPE = r"\\(?:[^\"\\]|\\(?:\\\\|\\\"|[^\"\\]))"
_INNER_VALUE = re.compile(
    rf"[ \t\r\n]*+:[ \t\r\n]*+\\\"((?:[^\"\\]|{_INNER_ESCAPE})[^\"\\]*+(?:{_INNER_ESCAPE}[^\"\\]*+)*)"
)
_FIELD_VALUE = re.compile(r"([^&\s\"'<>\\]++)", re.ASCII)

_MASKED_AUTHORIZATION = re.compile(rf"[A-Za-z][A-Za-z0-9-]{{0,19}} {re.escape(MASK)}")
"""A masked header, which keeps its scheme; it is not masked again, so that the scheme stays in saved messages."""

_VARIABLE = re.compile(r"(?:[A-Za-z][A-Za-z0-9-]{0,19} )?\{\{[ \w]++\}\}")
"""A variable of a snippet, also after an authentication scheme: it is replaced by a secret, but is not secret."""

_SCHEME_END = re.compile(r":(?://|\\/\\/)")
_REST_OF_URL = re.compile(r"[^\s\"'<>`\\]*+(?:\\(?:/|u00[2-7][0-9a-fA-F])[^\s\"'<>`\\]*+)*")
_AUTHORITY = re.compile(r"[^/?#\\]*+")
_URL_UNIT = re.compile(r"\\u([0-9a-fA-F]{4})|\\?(.)", re.DOTALL)
_SEPARATOR = re.compile(r"[?&#;]")

_Span = tuple[int, int, str]
"""The begin and the end of a secret in a text, and its replacement."""


def is_secret_name(name: str) -> bool:
    """Return whether the value of a variable with this name is a secret."""
    plain = _plain(name)
    return _is_secret(name) or (plain.endswith("token") and plain not in _OPEN)


def is_variable(value: str) -> bool:
    """Return whether a value is only a variable (`{{name}}`), or an authentication scheme and a variable."""
    return _VARIABLE.fullmatch(value) is not None


def mask_body(raw: bytes, *, push: bool = False) -> bytes:
    """Mask the secrets of a body; with `push`, `token` and `credentials` are always secret. JSON stays valid."""
    has_members, has_urls = push or _may_have_members(raw), _may_have_urls(raw)
    if not has_members and not has_urls:
        return raw
    text = raw.decode("latin-1")  # every byte is one character, so that the other bytes do not change
    spans = [*_members(text, push=push)] if has_members else []
    if has_urls:
        spans += _in_urls(text)
    return _replace(text, spans).encode("latin-1") if spans else raw


def may_have_secrets(raw: bytes) -> bool:
    """Return whether `mask_body` may change a body, or one of several joined bodies; this runs for every event."""
    return _may_have_members(raw) or _may_have_urls(raw)


def _may_have_members(raw: bytes) -> bool:
    return (
        _MAY_BE_MEMBER.search(raw) is not None
        or (b"\\" in raw and _MAY_BE_INNER.search(raw) is not None)
        or (b"=" in raw and _MAY_BE_FIELD.search(raw) is not None)
    )


def _may_have_urls(raw: bytes) -> bool:
    has_escapes = b"\\" in raw
    may_have_parts = b"=" in raw or b"@" in raw or (has_escapes and b"\\u00" in raw)
    return may_have_parts and (b"://" in raw or (has_escapes and b":\\/" in raw))


def mask_text(text: str) -> str:
    """Mask the secrets in a text, which may contain URLs and JSON."""
    spans = [*_in_urls(text)] if ":/" in text or ":\\/" in text else []
    if '"' in text or "=" in text:
        spans += _members(text, push=False)
    return _replace(text, spans)


def mask_url(url: str) -> str:
    """Mask the userinfo of a URL, and its parameters with names such as `token`; the scheme may be missing."""
    begin = _AUTHORITY.match(url)
    spans = [*_parameters(url), *_userinfo(url)]
    if begin and not url.startswith("/") and not url.startswith("://", begin.end() - 1):
        spans += _user_of_authority(url, 0)
    elif url.startswith("//"):
        spans += _user_of_authority(url, 2)
    return _replace(url, spans)


def _replace(text: str, spans: list[_Span]) -> str:
    """Replace the spans; a span within another span is left out."""
    if not spans:
        return text
    pieces: list[str] = []
    done = 0
    for start, end, replacement in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= done:
            pieces += [text[done:start], replacement]
            done = end
    return "".join([*pieces, text[done:]])


def _members(text: str, *, push: bool) -> Iterator[_Span]:
    """Return the values of secret members: in JSON, in JSON within a JSON string, and in a form or a query."""
    done = 0  # a value is read once, also if it contains names
    for found in _MEMBER_END.finditer(text):
        start, stop = _name_before(text, found.start())
        is_name = start >= done and text[start - 1 : start] == '"'
        value = _VALUE.match(text, found.end()) if is_name else None
        if value and _is_secret_member(text[start:stop], value[1] or "", push=push):
            done = value.end()
            yield (*value.span(1), MASK) if value[1] else (*value.span(2), f'"{MASK}"')
    done = 0
    for found in _INNER_END.finditer(text) if "\\" in text else ():
        start, stop = _name_before(text, found.start())
        is_name = start >= done and text[start - 2 : start] == '\\"'
        value = _INNER_VALUE.match(text, found.end()) if is_name else None
        if value and _is_secret_member(text[start:stop], value[1], push=push):
            done = value.end()
            yield *value.span(1), MASK
    done = 0
    for found in _FIELD_END.finditer(text) if "=" in text else ():
        start, stop = _name_before(text, found.start())
        is_first = start == 0 or text[start - 1] in "?&" or text.startswith("\\u0026", start - 1)
        is_name = start >= done and is_first and _is_secret(text[start:stop])
        value = _FIELD_VALUE.match(text, found.end()) if is_name else None
        if value and not is_variable(value[1]):
            done = value.end()
            yield *value.span(1), MASK


def _name_before(text: str, stop: int) -> tuple[int, int]:
    """Return the begin and the end of the name that ends at `stop`."""
    first = max(0, stop - _LONGEST_NAME)
    return first + len(text[first:stop].rstrip(_NAME_CHARACTERS)), stop


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def _is_secret(name: str) -> bool:
    plain = _plain(name)
    return plain in _NAMES or plain.endswith(_ENDINGS)


def _is_secret_member(name: str, value: str, *, push: bool) -> bool:
    plain = _plain(name)
    if value.endswith("}}") and is_variable(value):
        return False
    if plain.endswith("authorization") and _MASKED_AUTHORIZATION.fullmatch(value):
        return False
    if _is_secret(name) or (push and plain in _PUSH_MEMBERS):
        return True
    ambiguous = plain in _AMBIGUOUS or (plain.endswith("token") and plain not in _OPEN)
    return ambiguous and _LOOKS_SECRET.match(value) is not None


def _in_urls(text: str) -> Iterator[_Span]:
    """Return the secrets in the URLs of a text; in JSON, characters of a URL may be escaped."""
    done = 0
    for found in _SCHEME_END.finditer(text):
        if found.start() < done:  # a URL within a URL, which has been searched already
            continue
        rest = _REST_OF_URL.match(text, found.end())
        done = rest.end() if rest else found.end()
        url = text[found.start() : done]
        if "@" not in url and "=" not in url and "\\u" not in url:
            continue
        if "\\" in url:
            units = [(unit.start(), unit) for unit in _URL_UNIT.finditer(url)]
            url = "".join(chr(int(unit[1], 16)) if unit[1] else unit[2] for _, unit in units)
            places = [found.start() + at for at, _ in units] + [done]
        else:
            places = list(range(found.start(), done + 1))
        for start, end, mask in (*_parameters(url), *_userinfo(url)):
            yield places[start], places[end], mask


def _userinfo(url: str) -> Iterator[_Span]:
    """Return the userinfo of a URL, and of the URLs within it."""
    at = url.find("://")
    while at >= 0:
        yield from _user_of_authority(url, at + 3)
        at = url.find("://", at + 3)


def _user_of_authority(url: str, start: int) -> Iterator[_Span]:
    authority = _AUTHORITY.match(url, start)
    at = url.rfind("@", start, authority.end()) if authority else -1
    if at >= start and not is_variable(url[start:at].rpartition(":")[2]):
        yield start, at, MASK


def _parameters(url: str) -> Iterator[_Span]:
    """Return the values of the secret parameters of a URL."""
    separators = [found.start() for found in _SEPARATOR.finditer(url)]
    begin = -1  # of the value of the secret parameter before
    for start, end in pairwise([*separators, len(url)]):
        if begin >= 0 and url[start] in "?;":  # these characters may be part of a value, so they do not end a secret
            continue
        if begin >= 0 and not is_variable(url[begin:start]):
            yield begin, start, MASK
        equals = url.find("=", start, end)
        is_secret = 0 <= equals < end - 1 and _is_secret_parameter(url[start + 1 : equals][:_LONGEST_NAME])
        begin = equals + 1 if is_secret else -1
    if begin >= 0 and not is_variable(url[begin:]):
        yield begin, len(url), MASK


def _is_secret_parameter(name: str) -> bool:
    plain = _plain(unquote_plus(name))
    return plain not in _OPEN and (plain in _PARAMETERS or plain.endswith(_PARAMETER_ENDINGS))
