"""`lint` of an AI Catalog: a table with a row for each entry, then the findings about the catalog and each card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import field

from inspector.cli.findings import count, pieces_of
from inspector.cli.output import Output
from inspector.cli.running_command import RunningCommand
from inspector.cli.styles import Piece, Role, Styled
from inspector.findings.finding import Finding, Severity
from inspector.findings.rules import RULES
from inspector.findings.signatures.key_sources import Verdict
from inspector.findings.signatures.keyset import KeySet
from inspector.findings.trust_manifests import contributor_of, verify_manifest
from inspector.lazy_dataclass import dataclass
from inspector.protocol.model import Json
from inspector.session.card.lint_catalog import CatalogLint, LintedEntry
from inspector.session.catalog_listing import Listing
from inspector.session.exporters.json_lines import finding_json
from inspector.text.sanitise import clean, crop, width_of

_HEAD = ("RESULT", "ENTRY", "CARD", "VERSION", "FINDINGS")
_LONGEST = (12, 36, 32, 8)
"""The most cells of each column but the last."""
_GAP = "  "
_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "hint", None: "ok"}
_ROLES = {
    "error": Role.BAD,
    "warning": Role.WARNING,
    "hint": Role.SOFT,
    "ok": Role.GOOD,
    "not checked": Role.WARNING,
    "skipped": Role.SOFT,
}


@dataclass(slots=True)
class CatalogResults:
    """The findings about a catalog, and the result of each of its entries; `trusted` are keys that the user trusts."""

    listing: Listing
    findings: tuple[Finding, ...]
    trusted: KeySet | None = None
    entries: list[LintedEntry] = field(default_factory=list)

    def severities(self) -> Iterator[Severity]:
        """Return the severities of all findings; an agent card that was not checked counts as a warning."""
        yield from (finding.severity for finding in self.findings)
        for each in self.entries:
            yield from (finding.severity for finding in each.findings)
        if self.unchecked:
            yield Severity.WARNING

    @property
    def unchecked(self) -> int:
        """Return the number of cards and catalogs that were not checked."""
        return sum(bool(each.unchecked) and not each.skipped for each in self.entries)

    def parts(self) -> list[tuple[str, Sequence[Finding]]]:
        """Return the catalog with the findings about its entries, and each card with its own, for reports."""
        of_entries = [finding for each in self.entries for finding in each.findings if _is_about_catalog(finding)]
        parts: list[tuple[str, Sequence[Finding]]] = [
            (self.listing.url or self.listing.prefix, (*self.findings, *of_entries))
        ]
        for each in self.entries:
            if each.version:
                found = [finding for finding in each.findings if not _is_about_catalog(finding)]
                parts.append((f"{each.catalog}#{each.entry.reference}", found))
        return parts


async def lint_catalog(current: RunningCommand, listing: Listing) -> CatalogResults:
    """Check a catalog and each of its cards, and show how many are checked."""
    given = current.invocation.given
    lint = CatalogLint(current.session, listing, given.max_cards, given.protocol_version or "")
    results = CatalogResults(listing, listing.findings, current.session.settings.trusted_keys)
    total = len(listing.catalog.entries)
    with current.out.progress.waiting(lambda: f"checking the cards of the catalog: {len(results.entries)} of {total}"):
        async with aclosing(lint.entries()) as entries:
            async for entry in entries:
                results.entries.append(entry)
    return results


def print_catalog(out: Output, results: CatalogResults) -> None:
    """Print the results as JSON, or as a table and the findings."""
    if out.json:
        out.document(_as_json(results))
        return
    listing, catalog = results.listing, results.listing.catalog
    out.field("Catalog", listing.url or listing.prefix)
    out.field("Specification", f"AI Catalog {catalog.spec_version or 'of an unknown version'}")
    if catalog.host:
        out.field("Host", catalog.host)
    _print_table(out, results.entries)
    for each, contributor, verdict in _signatures(results):
        signed = f"{verdict.outcome}: {verdict.reason}" if verdict else "not signed"
        out.field("Trust manifest", f"{each.entry.reference}, {contributor or 'no contributor'}: {signed}")
    _print_findings(out, results)
    everything = (*results.findings, *(finding for each in results.entries for finding in each.findings))
    out.field("Findings", count(everything))
    if results.unchecked:
        out.warn(f"not checked: {results.unchecked} of {len(results.entries)} entries; the table has the reasons")


def _signatures(results: CatalogResults) -> Iterator[tuple[LintedEntry, str, Verdict | None]]:
    """Return the contributor of each trust manifest, and whether its signature is valid; None without one."""
    for each in results.entries:
        for _, manifest in each.entry.trust_manifests:
            yield each, contributor_of(manifest), verify_manifest(manifest, results.trusted)


def _print_table(out: Output, entries: list[LintedEntry]) -> None:
    if not entries:
        out.field("Entries", "none")
        return
    rows = [_row(each) for each in entries]
    widths = [
        min(max(width_of(row[column]) for row in (_HEAD, *rows)), _LONGEST[column]) for column in range(len(_LONGEST))
    ]
    for row in (_HEAD, *rows):
        role = Role.HEADING if row is _HEAD else _ROLES[row[0]]
        pieces: list[Piece] = []
        for column, width in enumerate(widths):
            text = crop(row[column], width)
            pieces.append(Styled(text, role) if column == 0 or row is _HEAD else text)
            pieces.append(" " * (width - width_of(text)) + _GAP)
        out.line(*pieces, Styled(row[-1], Role.HEADING) if row is _HEAD else row[-1])


def _row(each: LintedEntry) -> tuple[str, ...]:
    words = each.unchecked or count(each.findings)
    cells = (each.entry.reference, each.name, each.version, words)
    return (_result(each), *(clean(cell) or "-" for cell in cells))


def _result(each: LintedEntry) -> str:
    """Return the most severe severity of the findings, or that the entry was not checked."""
    if each.unchecked:
        return "skipped" if each.skipped else "not checked"
    return _WORDS[each.worst]


def _print_findings(out: Output, results: CatalogResults) -> None:
    """Print the findings about each document; the requirement and the remedy of a rule are printed once."""
    explained: set[str] = set()
    documents = [("Catalog", results.listing.prefix, results.findings)]
    documents += [
        ("Entry", f"{each.entry.reference} ({each.url or 'in the catalog'})", each.findings) for each in results.entries
    ]
    for label, place, findings in documents:
        if findings:
            out.write("\n")
            out.field(label, place)
        for finding in findings:
            out.field("Finding", *pieces_of(finding))
            if finding.rule not in explained:
                explained.add(finding.rule)
                rule = RULES[finding.rule]
                out.field("  Requirement", f"{rule.section}: {rule.requirement}")
                out.field("  Remedy", rule.remedy)
    out.write("\n")


def _as_json(results: CatalogResults) -> Json:
    listing, signatures = results.listing, list(_signatures(results))
    return {
        "catalog": listing.url or listing.prefix,
        "specVersion": listing.catalog.spec_version or None,
        "host": listing.catalog.host or None,
        "findings": [finding_json(finding) for finding in results.findings],
        "entries": [
            {
                "catalog": each.catalog,
                "entry": each.entry.reference,
                "pointer": each.entry.pointer,
                "identifier": each.entry.identifier or None,
                "type": each.entry.type or None,
                "url": each.url or None,
                "name": each.name or None,
                "protocolVersion": each.version or None,
                "result": _result(each),
                "reason": each.unchecked or None,
                "trustManifests": [
                    {
                        "contributor": contributor or None,
                        "signature": verdict.outcome.value if verdict else None,
                        "reason": verdict.reason if verdict else None,
                    }
                    for other, contributor, verdict in signatures
                    if other is each
                ],
                "findings": [finding_json(finding) for finding in each.findings],
            }
            for each in results.entries
        ],
    }


def _is_about_catalog(finding: Finding) -> bool:
    """Return whether the pointer of a finding leads into the catalog, not into a card."""
    return finding.rule.startswith("CATALOG-")
