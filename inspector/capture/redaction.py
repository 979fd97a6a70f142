"""Redaction: secrets are masked before anything is recorded, so that no record, export or log contains one.

Known secrets (`Redactor.add`) are masked everywhere, in every spelling of JSON and URLs. Unknown ones are masked by
their place: headers, query parameters and members by name, userinfo.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus, unquote_plus

MASK = "****"
"""The replacement of a secret, in text and in bytes."""

_MASK = MASK.encode()
_SHORTEST = 4
_SHORT = 256
_REMEMBERED = 1024
"""The results of masking so many texts, headers and urls, up to so many characters long, are cached."""
_LITERALS = ("true", "false", "null")
"""Masking one of these, or a part of it, would only break JSON."""

_SECRET_HEADERS = frozenset({"cookie", "set-cookie"})
_SECRET_IN_HEADER = ("authorization", "api-key", "api_key", "apikey", "token", "secret")
_URL_HEADERS = frozenset({"location", "content-location", "referer"})
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]{0,19})[ \t]+(?=\S)")

_SECRET_PARAMETERS = frozenset({"key", "pwd", "passwd", "sig", "code", "auth", "authorization", "credentials", "jwt"})
_SECRET_PARAMETER_ENDINGS = ("token", "secret", "apikey", "password", "signature")
_OPEN_PARAMETERS = frozenset({"pagetoken", "nextpagetoken", "validationtoken"})
"""Parts of A2A itself that are called tokens and are no secrets: list pages, and the echo that proves a webhook."""
_USERINFO = re.compile(r"^((?:[A-Za-z][A-Za-z0-9+.-]*:)?//)?[^/?#\\]*@")
_SEPARATOR = re.compile(r"([?&#;])")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>`]+")

_STRING = rb'"(?:[^"\\]|\\.)*+(?:"|\Z)'
_NUMBER = rb"-?[0-9][0-9.eE+-]*+"
_STRING_OR_NUMBER = re.compile(_STRING + rb"|[0-9.eE+-]++", re.DOTALL)
_NUMERIC = re.compile(r"[0-9.eE+-]*[0-9][0-9.eE+-]*")
_ESCAPE = re.compile(rb'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_ESCAPED_ASCII = re.compile(rb"\\(?:u00[0-7]|/)")
_SHORT_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}

_MEMBERS = b"access_token|refresh_token|client_secret|password"
_MEMBER_MARKS = {ord("_"): (b"_token", b"client_secret"), ord("w"): (b"password",)}
"""Words that every such member contains, by one byte of them: searching a byte is ten times faster."""
_PUSH_MEMBERS = b"token|credentials"
_PUSH_MARKS = {ord("N"): (b"ushNotificationConfig", b'ushNotification"')}
"""The names of members that hold a push configuration; the name of the capability, which ends in `s`, is not one."""


class Redactor:
    """Masks known secrets, and values whose place shows that they are secrets; `known` counts the former."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: dict[str, list[str]] = {}
        for secret in secrets:
            self._take(secret)
        self._prepare()

    def add(self, secret: str) -> None:
        """Mask this secret from now on, unless it is shorter than four characters."""
        if self._take(secret):
            self._prepare()

    def headers(self, pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Mask the values of headers with secrets, except for the scheme, and known secrets in the others."""
        return tuple(
            (name, (self._short_header if len(value) <= _SHORT else self._masked_header)(name, value))
            for name, value in pairs
        )

    def url(self, url: str) -> str:
        """Mask userinfo, known secrets, and the values of parameters with names of secrets."""
        return self._short_url(url) if len(url) <= _SHORT else self._masked_url(url)

    def text(self, text: str) -> str:
        """Mask known secrets in a text, and secrets in its URLs."""
        return self._short_text(text) if len(text) <= _SHORT else self._masked_text(text)

    def _masked_url(self, url: str) -> str:
        return _mask_parameters(_USERINFO.sub(rf"\1{MASK}@", self._known(url), count=1))

    def _masked_text(self, text: str) -> str:
        text = self._known(text)
        return _URL.sub(lambda found: self.url(found[0]), text) if "://" in text else text

    def body(self, raw: bytes, *, push: bool = False) -> bytes:
        """Mask known secrets and members with secrets; other bytes stay as they are and JSON stays valid.

        `token` and `credentials` are masked in a body with a push configuration: it contains that word, or the caller
        knows (`push`), because 1.0 sends the configuration without a wrapper.
        """
        if self._forms and _may_hold(raw, self._forms):
            raw = self._words().sub(_mask_found, raw)
        if self._numbers and _may_hold(raw, self._numbers):
            raw = _STRING_OR_NUMBER.sub(self._mask_numeric, raw)
        if push or _is_marked(raw, _PUSH_MARKS):
            return _PUSH_MEMBER.sub(_mask_member, raw)
        return _MEMBER.sub(_mask_member, raw) if _is_marked(raw, _MEMBER_MARKS) else raw

    def _take(self, secret: str) -> bool:
        if len(secret) < _SHORTEST or secret in self._secrets or any(secret in literal for literal in _LITERALS):
            return False
        self._secrets[secret] = _spellings(secret)
        return True

    def _prepare(self) -> None:
        self.known = len(self._secrets)
        # The longest first, so that a secret which begins with another one is masked completely.
        secrets = sorted(self._secrets, key=len, reverse=True)
        numeric = [secret for secret in secrets if _NUMERIC.fullmatch(secret)]
        others = [secret for secret in secrets if not _NUMERIC.fullmatch(secret)]
        spellings = self._secrets
        self._texts = [form for secret in secrets for form in spellings[secret]]
        self._forms = [_encode(form) for secret in others for form in spellings[secret]]
        self._numbers = [_encode(secret) for secret in numeric]
        # Ids, urls, headers and the words of a verdict are often repeated, with the same result until the next secret.
        self._short_text = functools.lru_cache(_REMEMBERED)(self._masked_text)
        self._short_header = functools.lru_cache(_REMEMBERED)(self._masked_header)
        self._short_url = functools.lru_cache(_REMEMBERED)(self._masked_url)
        # Compiled on first use: most secrets never appear.
        self._words = functools.cache(lambda: _any_of(others, spellings))
        self._digits = functools.cache(lambda: _any_of(numeric, spellings))

    def _masked_header(self, name: str, value: str) -> str:
        known = name.strip().lower()
        if known in _SECRET_HEADERS or any(part in known for part in _SECRET_IN_HEADER):
            scheme = _SCHEME.match(value) if "authorization" in known else None
            hidden = f"{self._known(scheme[1])} {MASK}" if scheme else MASK
            return hidden if value.strip() else value
        return self.url(value) if known in _URL_HEADERS else self.text(value)

    def _known(self, text: str) -> str:
        for form in self._texts:
            if form in text:
                text = text.replace(form, MASK)
        return text

    def _mask_numeric(self, found: re.Match[bytes]) -> bytes:
        """Mask secrets that could be a number: a part of a string, or a whole number."""
        token = found[0]
        if token.startswith(b'"'):
            return self._digits().sub(_mask_found, token)
        return b'"' + _MASK + b'"' if any(number in token for number in self._numbers) else token


def _may_hold(raw: bytes, forms: list[bytes]) -> bool:
    """Return whether the bytes contain one of the forms, or escapes that could spell one."""
    return _holds(raw, forms) or _ESCAPED_ASCII.search(raw) is not None


def _is_marked(raw: bytes, marks: Mapping[int, Iterable[bytes]]) -> bool:
    for byte, words in marks.items():  # noqa: SIM110 - as below
        if byte in raw and _holds(raw, words):
            return True
    return False


def _holds(raw: bytes, words: Iterable[bytes]) -> bool:
    for word in words:  # noqa: SIM110 - a generator costs more than the search, and this runs for every frame
        if word in raw:
            return True
    return False


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _spellings(secret: str) -> list[str]:
    """List the usual spellings of a secret: plain, in JSON and in a URL; the longest first."""
    quoted = quote(secret, safe="", errors="surrogatepass")
    escaped = json.dumps(secret)[1:-1]
    forms = {
        secret,
        json.dumps(secret, ensure_ascii=False)[1:-1],
        escaped,
        re.sub(r"\\u[0-9a-f]{4}", lambda found: "\\u" + found[0][2:].upper(), escaped),
        quoted,
        re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), quoted),
        quote_plus(secret, errors="surrogatepass"),
    }
    return sorted(forms, key=len, reverse=True)


def _any_of(secrets: list[str], spellings: dict[str, list[str]]) -> re.Pattern[bytes]:
    """Match these secrets in their usual spellings, and in all those that JSON allows for each character."""
    ways: list[bytes] = []
    for secret in secrets:
        ways += (re.escape(_encode(form)) for form in spellings[secret])
        ways.append(b"".join(map(_character_pattern, secret)))
    return re.compile(b"|".join(ways))


def _character_pattern(character: str) -> bytes:
    units = character.encode("utf-16-be", "surrogatepass")
    escape = b"".join(b"\\\\u(?i:%s)" % units[at : at + 2].hex().encode() for at in range(0, len(units), 2))
    ways = [escape, re.escape(_encode(character))]
    if character in _SHORT_ESCAPES:
        ways.insert(0, re.escape(f"\\{_SHORT_ESCAPES[character]}".encode()))
    return b"(?:" + b"|".join(ways) + b")"


def _mask_found(found: re.Match[bytes]) -> bytes:
    r"""Mask a match, except for the end of a JSON escape that begins before it: `\nsecret` keeps its `n`."""
    raw, start = found.string, found.start()
    backslash = raw.rfind(b"\\", max(0, start - 5), start)
    escape = _ESCAPE.match(raw, backslash) if backslash >= 0 else None
    if escape is None or escape.end() <= start or not _begins_escape(raw, backslash):
        return _MASK
    if escape.end() >= found.end():
        return bytes(found[0])  # one character's escape that only looks like the secret
    return raw[start : escape.end()] + _MASK


def _begins_escape(raw: bytes, backslash: int) -> bool:
    """Return whether a backslash is not escaped itself."""
    before = backslash
    while before >= 0 and raw[before] == 0x5C:
        before -= 1
    return (backslash - before) % 2 == 1


def _mask_parameters(url: str) -> str:
    first, *pieces = _SEPARATOR.split(url)
    masked = [first]
    hiding = False
    for separator, piece in zip(pieces[::2], pieces[1::2], strict=True):
        if hiding and separator in "?;":
            continue  # these may stand in a value, so they do not end a hidden one
        name, _, value = piece.partition("=")
        hiding = bool(value) and _is_secret_parameter(name)
        masked += [separator, f"{name}={MASK}" if hiding else piece]
    return "".join(masked)


def _is_secret_parameter(name: str) -> bool:
    known = "".join(filter(str.isalnum, unquote_plus(name))).lower()
    if known in _OPEN_PARAMETERS:
        return False
    return known in _SECRET_PARAMETERS or known.endswith(_SECRET_PARAMETER_ENDINGS)


def _member_pattern(names: bytes) -> re.Pattern[bytes]:
    """Match the value of a member in JSON, in JSON inside of a JSON string, and in a form or a query."""
    plain = rb'(?P<key>"(?:%s)"\s*:\s*)(?:"(?P<text>(?:[^"\\]|\\.)++)|%s)' % (names, _NUMBER)
    inner = rb'(?P<inner>\\"(?:%s)\\"\s*:\s*\\")(?:[^"\\]|\\[^"\\]|\\\\(?:\\\\|\\"|[^"\\]))++' % names
    field = rb"(?P<field>(?:^|[?&])(?:%s)=)[^&\s\"'<>\\]++" % names
    return re.compile(b"|".join((plain, inner, field)), re.DOTALL)


def _mask_member(found: re.Match[bytes]) -> bytes:
    if found["key"] is None:
        return bytes(found["inner"] or found["field"]) + _MASK
    return bytes(found["key"]) + b'"' + _MASK + (b"" if found["text"] else b'"')


_MEMBER = _member_pattern(_MEMBERS)
_PUSH_MEMBER = _member_pattern(_MEMBERS + b"|" + _PUSH_MEMBERS)
