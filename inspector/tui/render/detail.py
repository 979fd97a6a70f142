"""One record in full: its payload, and in words what is known of it besides."""

from __future__ import annotations

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Severity
from inspector.text.units import size
from inspector.tui.render.finding_lines import rule_of
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import Paragraph
from inspector.tui.render.times import clock, lasting

_LABEL = 13
_TEXT = "line--text"
_FACTS = (
    ("method", "method"),
    ("url", "url"),
    ("target", "target"),
    ("from", "peer"),
    ("status", "status"),
    ("dialect", "dialect"),
    ("binding", "binding"),
    ("request id", "id"),
    ("gRPC status", "name"),
    ("message", "message"),
    ("how", "how"),
    ("events", "events"),
    ("seconds", "seconds"),
)
"""What the head of a record says, by its label, and the member of `meta` that holds it."""
_TELLING = frozenset({"token", "authorization", "signature", "dates", "body-hash", "shape", "task", "order"})
"""The checks of a delivery that have something to say when they are good, too."""


def title(record: Record) -> str:
    """Return what a record is called: `#431 push`."""
    kind = {Kind.FRAME: record.event, Kind.BODY: record.event, Kind.DELIVERY: "push"}.get(
        record.kind, record.kind.value
    )
    return f"#{record.seq} {kind or record.kind.value}"


def tells_of_task(record: Record) -> bool:
    """Say whether a record may have changed something of a task."""
    told = record.event in ("task", "status", "artifact", "message")
    return bool(record.task) and told and record.kind in (Kind.FRAME, Kind.BODY, Kind.DELIVERY)


def about(record: Record, glyphs: Glyphs) -> list[Paragraph]:
    """Return what stands above the payload: findings with remedy, the verdict of a delivery, how an exchange ended.

    What spoke against a request that was sent all the same is said as well.
    """
    on_purpose = (f"{'on purpose':<{_LABEL}}", "line--warning")
    paragraphs = [Paragraph(on_purpose, str(words), _TEXT) for words in record.meta.get("deliberate") or ()]
    for finding in record.findings:
        rule = rule_of(finding.rule)
        style = "line--bad" if finding.severity is Severity.ERROR else "line--warning"
        mark = (f"{glyphs.severities[finding.severity]} ", style)
        paragraphs.append(Paragraph(mark, f"{finding.rule}  {rule.title}: {finding.seen}", "line--text"))
        paragraphs.append(Paragraph(("  ", style), f"{rule.remedy}  ({rule.section})", "line--soft"))
    if record.kind is Kind.DELIVERY:
        paragraphs += _verdict(record, glyphs)
    for label, name in (("up to", "whose"), ("seen", "seen"), ("to do", "hint")):
        if "seen" in record.meta and record.meta.get(name):
            paragraphs.append(_row(label, str(record.meta[name])))
    return paragraphs


def _verdict(record: Record, glyphs: Glyphs) -> list[Paragraph]:
    """Return a line for each check that failed, what was asked and answered, the checks that tell, all the others."""
    failed: list[Paragraph] = []
    telling: list[Paragraph] = []
    passed: list[str] = []
    signs = {True: (f"{glyphs.check} ", "line--good"), False: (f"{glyphs.cross} ", "line--bad")}
    for name, good, said in record.meta.get("checks", []):
        line = Paragraph(signs.get(good, (f"{glyphs.quiet} ", "line--quiet")), f"{name}: {said}", _TEXT)
        if good is False:
            failed.append(line)
        elif good is None or name in _TELLING:
            telling.append(line)
        else:
            passed.append(str(name))
    rest = [Paragraph(signs[True], ", ".join(passed), "line--soft")] if passed else []
    if record.meta.get("refused") and not failed:  # what was no HTTP has no checks
        failed.append(Paragraph(signs[False], str(record.meta["refused"]), _TEXT))
    return [*failed, *(_row(label, said) for label, said in _circumstances(record) if said), *telling, *rest]


def _circumstances(record: Record) -> list[tuple[str, str]]:
    """Return what was asked of a delivery, what it was answered and how it stands to others."""
    meta = record.meta
    latency, dialled = meta.get("latency"), meta.get("dialled")
    return [
        ("asked for", str(meta.get("asked", ""))),
        ("answered", f"{dialled}, as dialled in" if dialled else ""),
        ("latency", f"{lasting(latency)} after what it reports" if latency is not None else ""),
    ]


def facts(record: Record) -> list[Paragraph]:
    """Return the head of the record: method, url, status, headers, ids, times."""
    meta = record.meta
    rows = [("record", f"#{record.seq} {record.kind.value}, {clock(record.at)}, {size(record.size)}")]
    rows += [(label, str(meta[name])) for label, name in _FACTS if name in meta]
    rows += [("operation", record.operation), ("task", record.task), ("context", record.context)]
    rows += [("exchange", f"#{record.exchange}" if record.exchange else "")]
    rows += [("says", record.label)] if record.kind in (Kind.NOTE, Kind.KEEPALIVE) else []
    headers = [Paragraph((f"{name}: ", "line--soft"), str(value), _TEXT) for name, value in meta.get("headers") or ()]
    gap = [Paragraph(("", _TEXT), "", _TEXT)] if headers else []
    return [*(_row(label, value) for label, value in rows if value), *gap, *headers]


def _row(label: str, value: str) -> Paragraph:
    return Paragraph((f"{label:<{_LABEL}}", "line--soft"), value, _TEXT)
