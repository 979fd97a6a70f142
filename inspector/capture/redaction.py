"""Mask secrets before anything is recorded, so that no record, export or log contains a secret.

Known secrets (`Redactor.add`) are masked everywhere, in every spelling of JSON and URLs. Unknown secrets are masked by
their location: headers, query parameters and JSON members with certain names, and the userinfo of URLs.
"""

from __future__ import annotations

import functools
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote, quote_plus

from inspector.capture.multi_search import MultiSearch
from inspector.capture.secret_locations import MASK, is_variable, mask_body, mask_text, mask_url, may_have_secrets
from inspector.text.binary_metadata import BINARY, values_of

__all__ = ["MASK", "Redactor"]

_MASK = MASK.encode()
_SHORTEST = 4
"""Shorter secrets are not masked."""
_SHORTEST_IN_HEADER = 8
"""Shorter values of secret headers, such as a number of tokens, are masked in the header only."""
_LONGEST_PATTERN = 4096
"""Longer secrets are masked in their usual spellings only: a pattern needs kilobytes of memory for each character."""
_SHORT = 256
_CACHE_SIZE = 1024
"""The results of masking are cached for texts, headers and urls of up to `_SHORT` characters, `_CACHE_SIZE` of each."""
_MANY = 300
"""From this number of known secrets on, they are not searched one by one."""
_LITERALS = ("true", "false", "null")
"""A secret that is one of these literals, or a part of a literal, is not masked: the mask would make JSON invalid."""

_SECRET_HEADERS = frozenset({"cookie", "set-cookie"})
_SECRET_IN_HEADER = ("authorization", "api-key", "api_key", "apikey", "token", "secret")
_URL_HEADERS = frozenset({"location", "content-location", "referer"})
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]{0,19})[ \t]+(?=\S)")

_STRING_OR_NUMBER = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*(?:"|\\?\Z)|[0-9.eE+-]++', re.DOTALL)
"""A string, or what may be a number. A string that is cut off ends at the end, so that it is read only once."""
_NUMERIC = re.compile(r"(?=[.eE+-]*+[0-9])[0-9.eE+-]++")
_ESCAPE = re.compile(rb'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_PAIR = rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|"
_CHARACTER = re.compile(_PAIR + _ESCAPE.pattern)
_NESTED_CHARACTER = re.compile(_PAIR + rb'\\(?:u[0-9a-fA-F]{4}|["/bfnrt])')
"""Escapes of a character; in the second, the backslash can be escaped itself, as in JSON in a string."""
_ESCAPED_ASCII, _ESCAPED = re.compile(rb"\\(?:u00[0-7]|/)"), re.compile(rb"\\[u/]")
"""Escapes that can encode a character of a secret: of one that is ASCII, and of any other."""
_SHORT_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


class Redactor:
    """Masks known secrets, and values whose location shows that they are secrets; `known` counts the known secrets."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: dict[str, list[str]] = {}
        self._patterns: dict[tuple[str, bool], re.Pattern[bytes]] = {}
        for secret in secrets:
            self._add(secret)
        self._prepare()

    def add(self, secret: str) -> None:
        """Mask this secret from now on; secrets of less than four characters are ignored."""
        if self._add(secret):
            self._prepare()

    def learn(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Mask the values of secret headers of requests from now on, because the agent may repeat them."""
        secret = [(name, value) for name, value in pairs if _is_secret_header(name.strip().lower())]
        self._add_all(part for part in _parts_of(secret) if len(part) >= _SHORTEST_IN_HEADER)

    def add_headers(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Mask the values of these headers from now on, whatever their names."""
        self._add_all(_parts_of(pairs))

    def headers(self, pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Mask the values of secret headers, but not the authentication scheme; mask known secrets in other headers."""
        return tuple(
            (name, (self._short_header if len(value) <= _SHORT else self._masked_header)(name, value))
            for name, value in pairs
        )

    def url(self, url: str) -> str:
        """Mask in a URL the userinfo, known secrets, and the values of parameters with names such as `token`."""
        return self._short_url(url) if len(url) <= _SHORT else self._masked_url(url)

    def text(self, text: str) -> str:
        """Mask known secrets in a text, secrets in its URLs, and in JSON that it contains."""
        return self._short_text(text) if len(text) <= _SHORT else self._masked_text(text)

    def _masked_url(self, url: str) -> str:
        return mask_url(self._known(url))

    def _masked_text(self, text: str) -> str:
        return mask_text(self._known(text))

    def body(self, raw: bytes, *, push: bool = False) -> bytes:
        """Mask known secrets and members with secrets; other bytes do not change and JSON stays valid.

        In a body with a push configuration, `token` and `credentials` are masked, too. Such a body is recognized by
        the names of its members. In 1.0 the configuration can be the whole body; then `push` must be true.
        """
        if self._forms and self._may_contain(raw, self._forms):
            raw = self._masked(raw, self._others, numeric=False)
        if self._numbers and self._may_contain(raw, self._numbers):
            raw = _STRING_OR_NUMBER.sub(self._mask_numeric, raw)
        return mask_body(raw, push=push or _may_have_push_configuration(raw))

    def bodies(self, raws: Sequence[bytes]) -> Sequence[bytes]:
        """Mask each body like `body`; most have no secret, which is found out for all of them at once."""
        if len(raws) > 1 and not self._may_change(b"\n".join(raws)):
            return raws
        return [self.body(raw) for raw in raws]

    def _may_change(self, raw: bytes) -> bool:
        """Return whether `body` may change a body, or one of several joined bodies."""
        return (
            any(self._may_contain(raw, forms) for forms in (self._forms, self._numbers) if forms)
            or _may_have_push_configuration(raw)
            or may_have_secrets(raw)
        )

    def _add(self, secret: str) -> bool:
        if len(secret) < _SHORTEST or secret in self._secrets or any(secret in literal for literal in _LITERALS):
            return False
        self._secrets[secret] = _spellings(secret)
        return True

    def _add_all(self, secrets: Iterable[str]) -> None:
        added = [self._add(secret) for secret in secrets]
        if any(added):
            self._prepare()

    def _prepare(self) -> None:
        self.known = len(self._secrets)
        # The longest first, so that a secret which begins with another secret is masked completely.
        secrets = sorted(self._secrets, key=len, reverse=True)
        self._numeric = [secret for secret in secrets if _NUMERIC.fullmatch(secret)]
        self._others = [secret for secret in secrets if not _NUMERIC.fullmatch(secret)]
        spellings = self._secrets
        self._texts = [form for secret in secrets for form in spellings[secret]]
        self._forms = [_encode(form) for secret in self._others for form in spellings[secret]]
        self._numbers = [_encode(secret) for secret in self._numeric]
        self._escapes = _ESCAPED_ASCII if all(map(str.isascii, secrets)) else _ESCAPED
        self._search: _Search | None = None
        # Ids, urls, headers and the texts of webhook checks are often repeated. Adding a secret replaces these caches.
        self._short_text = functools.lru_cache(_CACHE_SIZE)(self._masked_text)
        self._short_header = functools.lru_cache(_CACHE_SIZE)(self._masked_header)
        self._short_url = functools.lru_cache(_CACHE_SIZE)(self._masked_url)

    def _masked_header(self, name: str, value: str) -> str:
        known = name.strip().lower()
        if _is_secret_header(known):
            if is_variable(value):
                return self._known(value)
            scheme = _SCHEME.match(value) if "authorization" in known else None
            hidden = f"{self._known(scheme[1])} {MASK}" if scheme else MASK
            return hidden if value.strip() else value
        if known.endswith(BINARY):
            return self._masked_binary(value)
        return self.url(value) if known in _URL_HEADERS else self.text(value)

    def _masked_binary(self, value: str) -> str:
        """Mask known secrets in bytes in base64. A mask is as long as its secret, so that the bytes stay valid."""
        text = self.text(value)
        try:
            raws = values_of(value) if text == value else []
        except ValueError:
            return text
        masked = [self._masked_bytes(raw) for raw in raws]
        return text if masked == raws else ",".join(b64encode(raw).decode("ascii") for raw in masked)

    def _masked_bytes(self, raw: bytes) -> bytes:
        for form in self._texts:
            secret = _encode(form)
            raw = raw.replace(secret, b"*" * len(secret))
        return raw

    def _known(self, text: str) -> str:
        search = self._many()
        for form in self._texts if search is None else search.in_text(text):
            if form in text:
                text = text.replace(form, MASK)
        return text

    def _many(self) -> _Search | None:
        """Return the search for many secrets, None for a few, which are found faster one by one."""
        if self._search is None and self.known >= _MANY:
            self._search = _Search(self._secrets)
        return self._search

    def _may_contain(self, raw: bytes, forms: list[bytes]) -> bool:
        """Return whether the bytes contain a form of a secret, or escapes that could encode it."""
        search = self._many()
        contains = _contains_any(raw, forms) if search is None else search.any_in(raw)
        return contains or self._escapes.search(raw) is not None

    def _masked(self, raw: bytes, secrets: Sequence[str], *, numeric: bool) -> bytes:
        """Mask each of these secrets, which are all `numeric` or none of which is.

        One pattern of all would be compiled again for each webhook, and kept by `re`.
        """
        if (search := self._many()) is not None:
            present = (secret for secret in search.in_bytes(raw) if bool(_NUMERIC.fullmatch(secret)) is numeric)
            secrets = sorted(present, key=len, reverse=True)
        escaped = b"\\" in raw
        for secret in secrets:
            if len(secret) > _LONGEST_PATTERN:
                for form in self._secrets[secret]:
                    raw = raw.replace(_encode(form), _MASK).replace(_encode(form.replace("/", r"\/")), _MASK)
                continue
            pattern = self._patterns.get((secret, escaped))
            if pattern is None:  # compiled on first use, because most secrets never appear
                pattern = _pattern_of(secret, self._secrets[secret], escaped=escaped)
                self._patterns[secret, escaped] = pattern
            raw = pattern.sub(_mask_found, raw)
        return raw

    def _mask_numeric(self, found: re.Match[bytes]) -> bytes:
        """Mask secrets that look like a number, in a string or as a number; a masked number becomes a string."""
        token = found[0]
        if token.startswith(b'"'):
            return self._masked(token, self._numeric, numeric=True)
        return b'"' + _MASK + b'"' if self._has_number(token) else token

    def _has_number(self, token: bytes) -> bool:
        search = self._many()
        return _contains_any(token, self._numbers) if search is None else search.any_in(token)


class _Search:
    """Finds which of many secrets are in a text or in bytes, in every spelling."""

    def __init__(self, spellings: Mapping[str, Sequence[str]]) -> None:
        self._forms = MultiSearch([form for forms in spellings.values() for form in forms])
        self._secrets = {_encode(form): secret for secret, forms in spellings.items() for form in forms}
        self._encoded = MultiSearch(self._secrets)

    def any_in(self, raw: bytes) -> bool:
        """Return whether bytes contain a form of a secret."""
        return self._encoded.any_in(raw)

    def in_text(self, text: str) -> list[str]:
        """Return the forms of secrets in a text, the longest first."""
        return sorted(self._forms.found_in(text), key=len, reverse=True)

    def in_bytes(self, raw: bytes) -> set[str]:
        """Return the secrets in bytes, also those whose characters are JSON escapes."""
        views = {raw}
        if b"\\" in raw:
            views |= {_CHARACTER.sub(_unescaped, raw), _NESTED_CHARACTER.sub(_unescaped, raw)}
        return {self._secrets[form] for view in views for form in self._encoded.found_in(view)}


def _unescaped(found: re.Match[bytes]) -> bytes:
    """Return the character of a JSON escape."""
    return _encode(json.loads(b'"' + found[0] + b'"'))


def _parts_of(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Return the secrets in the values of headers: a value, what follows its scheme, and the values of long cookies."""
    for name, value in pairs:
        yield value.strip()
        yield value.strip().partition(" ")[2]
        if name.strip().lower() == "cookie":
            cookies = (pair.partition("=")[2].strip().strip('"') for pair in value.split(";"))
            yield from (cookie for cookie in cookies if len(cookie) >= _SHORTEST_IN_HEADER)


def _is_secret_header(name: str) -> bool:
    """Return whether the value of a header is secret, by its name in lower case."""
    return name in _SECRET_HEADERS or any(part in name for part in _SECRET_IN_HEADER)


def _may_have_push_configuration(raw: bytes) -> bool:
    """Return whether the bytes name a push configuration; the capability `pushNotifications` does not match."""
    return b"N" in raw and (b"ushNotificationConfig" in raw or b'ushNotification"' in raw)


def _contains_any(raw: bytes, words: Iterable[bytes]) -> bool:
    for word in words:  # noqa: SIM110 - a generator costs more than the search, and this runs for every frame
        if word in raw:
            return True
    return False


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _spellings(secret: str) -> list[str]:
    """Return the usual spellings of a secret, longest first: plain, in JSON, JSON in a string, URLs and pointers."""
    quoted = quote(secret, safe="", errors="surrogatepass")
    written, escaped = json.dumps(secret, ensure_ascii=False)[1:-1], json.dumps(secret)[1:-1]
    forms = {
        secret,
        written,
        escaped,
        json.dumps(written, ensure_ascii=False)[1:-1],
        json.dumps(escaped)[1:-1],
        re.sub(r"\\u[0-9a-f]{4}", lambda found: "\\u" + found[0][2:].upper(), escaped),
        quoted,
        re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), quoted),
        quote_plus(secret, errors="surrogatepass"),
        secret.replace("~", "~0").replace("/", "~1"),
    }
    return sorted(forms, key=len, reverse=True)


def _pattern_of(secret: str, spellings: Iterable[str], *, escaped: bool) -> re.Pattern[bytes]:
    """Return a pattern for a secret: its usual spellings and, for `escaped` bytes, every JSON escape of each character.

    The latter needs 30 times as long to compile (for a JSON Web Token, 20 ms), and most bodies contain no backslash.
    """
    patterns = [re.escape(_encode(form)) for form in spellings]
    if escaped:
        patterns.append(b"".join(map(_character_pattern, secret)))
    return re.compile(b"|".join(patterns))


def _character_pattern(character: str) -> bytes:
    units = character.encode("utf-16-be", "surrogatepass")
    escape = b"".join(b"\\\\u(?i:%s)" % units[at : at + 2].hex().encode() for at in range(0, len(units), 2))
    patterns = [escape, re.escape(_encode(character))]
    if character in _SHORT_ESCAPES:
        patterns.insert(0, re.escape(f"\\{_SHORT_ESCAPES[character]}".encode()))
    return b"(?:" + b"|".join(patterns) + b")"


def _mask_found(found: re.Match[bytes]) -> bytes:
    r"""Mask a match, except for the end of a JSON escape that begins before it: `\nsecret` keeps its `n`."""
    raw, start = found.string, found.start()
    backslash = raw.rfind(b"\\", max(0, start - 5), start)
    escape = _ESCAPE.match(raw, backslash) if backslash >= 0 else None
    if escape is None or escape.end() <= start or not _begins_escape(raw, backslash):
        return _MASK
    if escape.end() >= found.end():
        return bytes(found[0])  # the match is only the letter of an escape such as `\n`, not the secret
    return raw[start : escape.end()] + _MASK


def _begins_escape(raw: bytes, backslash: int) -> bool:
    """Return whether a backslash is not escaped itself."""
    before = backslash
    while before >= 0 and raw[before] == 0x5C:
        before -= 1
    return (backslash - before) % 2 == 1
