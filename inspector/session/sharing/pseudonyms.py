"""Pseudonyms for ids, hosts and e-mail addresses: the same value has the same pseudonym everywhere in a capture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, count
from urllib.parse import quote

from inspector.capture.records import Record
from inspector.capture.redaction import MASK
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json
from inspector.session.payload import payload_json
from inspector.session.sharing.literals import Literals
from inspector.session.sharing.texts import cached, places

IDS, HOSTS, EMAILS = "ids", "hosts", "e-mail addresses"
_UUID = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![0-9A-Za-z])")
_EMAIL = re.compile(r"(?<![\w.+%-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}(?![\w-])", re.ASCII)
_URL_HOST = re.compile(r"(://(?:[^/?#\s@\"'<>\\]{0,200}@)?)(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9_.-]{1,253})")
_ADDRESS = re.compile(r"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w.]*[\w])")
_MEMBERS: Mapping[str, str] = {
    "taskid": "task",
    "referencetaskids": "task",
    "contextid": "context",
    "sessionid": "context",
    "messageid": "message",
    "artifactid": "artifact",
    "configid": "config",
    "pushnotificationconfigid": "config",
    "id": "id",
}
"""The beginning of the pseudonym of an id, by the member that has it, without case and underscores."""
_PSEUDONYM = re.compile(r"(?:task|context|message|artifact|config|id|host|user)-[0-9]+(?:\.example|@mail\.example)?")
_SHORTEST_ID = 8
_EXAMPLE = "example"
"""The top-level domain of pseudonyms, which is reserved for examples (RFC 2606)."""
_LOCAL = frozenset({"localhost", "0.0.0.0", "::1", "::"})  # noqa: S104 - recognised, not used
_PUBLIC = (
    *("a2a-protocol.org", "example", "example.com", "example.net", "example.org", "github.com"),
    *("googleapis.com", "json-schema.org", "openid.net", "schema.org", "w3.org", "opentelemetry.io"),
)
"""Hosts of specifications and examples, which keep their names."""


class Pseudonyms:
    """Collects the ids, hosts and e-mail addresses of records, then replaces them.

    `rules` has the rule of each value. `assign` has to be called after the last record was read.
    """

    def __init__(self) -> None:
        self.rules: dict[str, str] = {}
        self._rules_in = cached(self._learn_text)
        self._forms: dict[str, str] = {}
        self._taken: set[str] = set()
        self._names: dict[str, str] = {}
        self._literals = Literals({})

    def learn(self, record: Record, request: Record) -> Iterator[tuple[str, str]]:
        """Add the values of a record; yield the rule and the place of each occurrence."""
        for kind, value in (("task", record.task), ("context", record.context)):
            self._add_id(kind, value)
        if record.raw and b'"' in (payload := payload_json(record, request)):
            for _ in self._learn_members(parse(payload)):
                yield IDS, "payload"
        for place in places(record, request):
            for rule in self._rules_in(place.text):
                yield rule, place.name
            if place.name.lower() == "header host" and self._add_host(_without_port(place.text)):
                yield HOSTS, place.name
        peer = _without_port(str(record.meta.get("peer", "")))
        if ":" in peer and self._add_host(peer):  # IPv6: other addresses are found in every text
            yield HOSTS, "peer"

    def assign(self) -> None:
        """Choose the names, in the order in which the values appeared; names that the capture contains are left out."""
        counts: dict[str, Iterator[int]] = {}
        for value, form in self._forms.items():
            numbers = counts.setdefault(form, count(1))
            self._names[value] = next(name for number in numbers if (name := form.format(number)) not in self._taken)
        self._literals = self._spelled()

    def _learn_members(self, value: Json) -> Iterator[None]:
        """Add the ids in members with certain names; yield for each that is not found by its form."""
        if isinstance(value, list):
            for item in value:
                yield from self._learn_members(item)
        elif isinstance(value, dict):
            for name, item in value.items():
                kind = _MEMBERS.get(name.replace("_", "").lower())
                for text in item if isinstance(item, list) else [item]:
                    if kind and isinstance(text, str) and self._add_id(kind, text) and not _UUID.fullmatch(text):
                        yield
                yield from self._learn_members(item)

    def _learn_text(self, text: str) -> list[str]:
        """Add the values in a text; return the rule of each."""
        self._taken.update(found[0] for found in _PSEUDONYM.finditer(text))
        rules: list[str] = []
        for found in _EMAIL.finditer(text):
            self._add(EMAILS, found[0], f"user-{{}}@mail.{_EXAMPLE}")
            rules.append(EMAILS)
        hosts = (found[2].strip("[]") for found in _URL_HOST.finditer(text))
        addresses = (found[0] for found in _ADDRESS.finditer(text))
        rules += [HOSTS for host in chain(hosts, addresses) if self._add_host(host)]
        for found in _UUID.finditer(text):
            self._add_id("id", found[0])
            rules.append(IDS)
        return rules

    def _add_id(self, kind: str, value: str) -> bool:
        """Add an id that looks random; short ids and words such as `report` do not identify anything."""
        random = len(value) >= _SHORTEST_ID and any(map(str.isdigit, value)) and value.isascii()
        if not random or " " in value or MASK in value or "://" in value:
            return False
        self._add(IDS, value, f"{kind}-{{}}")
        return True

    def _add_host(self, host: str) -> bool:
        lower = host.lower().rstrip(".")
        if lower in _LOCAL or lower.endswith(".localhost") or lower.startswith("127.") or not lower:
            return False
        if any(lower == known or lower.endswith(f".{known}") for known in _PUBLIC) or MASK in lower:
            return False
        self._add(HOSTS, lower, f"host-{{}}.{_EXAMPLE}")
        return True

    def _add(self, rule: str, value: str, form: str) -> None:
        if value not in self._forms:
            self._forms[value] = form
            self.rules[value] = rule

    def remains_in(self, text: str) -> bool:
        """Return whether a text still has a value that should have been replaced."""
        return self.replace(text) != text

    def replace(self, text: str) -> str:
        """Return a text with pseudonyms; values are replaced longest first."""
        if not text or not self._names:
            return text
        text = _EMAIL.sub(self._name, text)
        text = _URL_HOST.sub(lambda found: found[1] + self._host(found[2]), text)
        text = _UUID.sub(self._name, text)
        return self._literals.replace(text)

    def header(self, name: str, value: str) -> str:
        """Return the value of a header with pseudonyms."""
        host = _without_port(value) if name.lower() == "host" else ""
        known = self._names.get(host.lower()) if host else None
        return self.replace(value) if known is None else value.replace(host, known, 1)

    def _name(self, found: re.Match[str]) -> str:
        return self._names.get(found[0], found[0])

    def _host(self, host: str) -> str:
        return self._names.get(host.strip("[]").lower().rstrip("."), host)

    def _spelled(self) -> Literals:
        """Return the other values, plain and percent-encoded; UUIDs are found by their form."""
        words = [value for value in self.rules if not _UUID.fullmatch(value) and self._is_unique(value)]
        spelled = {quote(value, safe=""): self._names[value] for value in words}
        spelled |= {value: self._names[value] for value in words}
        # Only hosts are the same in upper and lower case.
        return Literals(spelled, (value for value in words if self.rules[value] == HOSTS))

    def _is_unique(self, value: str) -> bool:
        """Return whether a value is replaced in every text: not a host of one word, which can mean something else."""
        return self.rules[value] != HOSTS or "." in value or ":" in value


def _without_port(authority: str) -> str:
    host, _, port = authority.strip().rpartition(":")
    return (host if port.isdigit() and host else authority.strip()).strip("[]")
