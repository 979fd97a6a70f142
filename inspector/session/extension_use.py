"""Find the data of known extensions in a payload when it is recorded, and verify the signatures in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.capture.records import EXTENSIONS, NOTHING, VERIFIED, Record
from inspector.capture.redaction import Redactor
from inspector.findings.finding import Finding
from inspector.protocol.extensions import may_have_uses
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import Json

if TYPE_CHECKING:
    from inspector.protocol.extensions.known import Use
    from inspector.session.journal import Journal

_MOST_TITLES = 2
_MOST_RESULTS = 100
_LONGEST = 200
"""The most titles and results of a payload, and the most characters of a result."""


class VerificationResult(NamedTuple):
    """What was verified when a payload was recorded: of which mandate, what, with which outcome, and the reason."""

    name: str
    what: str
    outcome: str
    reason: str

    @property
    def is_problem(self) -> bool:
        """Return whether it is not valid."""
        return self.outcome == "not valid"


class ExtensionUse(NamedTuple):
    """The names of the known extensions whose data a payload contains, and what the data means in one line.

    `verified` has the results of verifying the signatures in the data, by the id of the data (`id_of`); `findings` are
    about those that are not valid.
    """

    names: tuple[str, ...] = ()
    title: str = ""
    verified: Mapping[str, Sequence[Sequence[str]]] = NOTHING
    findings: tuple[Finding, ...] = ()

    def added_to(self, label: str) -> str:
        """Return the label of a record with the title after it."""
        return " · ".join(filter(None, (label, self.title)))

    @property
    def meta(self) -> dict[str, Any]:
        """Return the members of the `meta` of a record."""
        members: dict[str, Any] = {EXTENSIONS: list(self.names)} if self.names else {}
        return members | ({VERIFIED: dict(self.verified)} if self.verified else {})


NO_USE = ExtensionUse()


def find_use(journal: Journal, raw: bytes, value: Json, at: float, version: str) -> ExtensionUse:
    """Return what a payload with these bytes and this JSON contains of known extensions.

    It was received, or is sent, at a time in seconds since 1970, in a protocol version.
    """
    if not may_have_uses(raw):
        return NO_USE
    from inspector.protocol.extensions.known import uses_in  # noqa: PLC0415 - few agents use extensions

    return use_of(journal, uses_in(value), at, version)


def use_of(journal: Journal, uses: Sequence[Use], at: float, version: str) -> ExtensionUse:
    """Return the names of the extensions that are used, what their data means, and the results of verifying it."""
    if not uses:
        return NO_USE
    titles = dict.fromkeys(filter(None, (use.outline.title for use in uses[:_MOST_TITLES])))
    names = tuple(dict.fromkeys(use.extension.name for use in uses))
    found = journal.checker.mandates(uses, at)
    text, left, verified = journal.redactor.text, _MOST_RESULTS, dict[str, list[list[str]]]()
    for use, results in found:
        kept = results[:left]
        left -= len(kept)
        rows = [[text(word)[:_LONGEST] for word in each[:4]] for each in kept]
        if rows:
            verified[id_of(use.value, journal.redactor)] = rows
    findings = journal.checker.mandate_findings(found, version) if found else ()
    return ExtensionUse(names, " · ".join(titles), verified, findings)


def id_of(value: Json, redactor: Redactor) -> str:
    """Return an id of the data of an extension, which is the same before and after its secrets are masked."""
    masked = parse(redactor.body(dump(value)))
    try:
        written = json.dumps(masked, sort_keys=True, default=str)
    except (ValueError, RecursionError):
        return ""
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def results_of(value: Json, journal: Journal) -> list[VerificationResult] | None:
    """Return what was verified in the data of an extension when it was recorded last; None if nothing was."""
    rows = journal.verified.get(id_of(value, journal.redactor))
    return None if rows is None else [VerificationResult(*row) for row in rows]


def results_in(record: Record) -> Iterator[VerificationResult]:
    """Return what was verified when a record was made."""
    for rows in (record.meta.get(VERIFIED) or {}).values():
        for row in rows:
            yield VerificationResult(*row)
