"""The texts of the Webhooks view: the state of the receiver, stream and push compared, the diagnosis."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from inspector.protocol.lifecycle import short
from inspector.session.push.attempts import Chain
from inspector.session.push.diagnose import Diagnosis
from inspector.session.push.matching import Reconciliation, Source, SourceReport, Update
from inspector.session.push.service import PushService
from inspector.text.sanitise import clean_line
from inspector.text.units import duration
from inspector.tui.keys import key_of
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import state_cell
from inspector.tui.render.text_lines import BLANK, Paragraph, labelled
from inspector.wire.reach import reachable

_LABEL = 12
_SURE = (("certain", "line--bad"), ("likely", "line--warning"), ("possible", "line--quiet"))
"""The label and style of each member of `Likely`, in their order, except the last: ruled out."""
_LEAST_WHAT, _MOST_WHAT = 26, 200
"""The widths of the column of the updates."""
_CELL = 11
_DELAY = "delay"
_DELAY_WIDTH = 9
_MEANWHILE = {None: "", True: "; the task did not change meanwhile", False: "; the task continued meanwhile"}


def receiver_text(push: PushService, agent_url: str) -> Content:
    """Return the description of the receiver: its address and whether the agent can reach it, or why it is off."""
    if push.listening:
        return Content("\n").join(_listening(push, agent_url))
    start = f"Press {key_of('webhook')} to start it and to register a webhook with every message."
    if push.failure is not None:
        return Content.assemble(
            plain(push.failure.seen).stylize("bold $state-bad"),
            "\n",
            plain(push.failure.hint),
            f" Set it in the settings ({key_of('settings')}) or with --receiver-port,"
            f" and press {key_of('webhook')} to try again.",
        )
    return Content.assemble(start, (f" Address: {push.reachable_from}.", "$text-soft"))


def _listening(push: PushService, agent_url: str) -> list[Content]:
    receiver, quiet = push.receiver, "$text-soft"
    delivered = any(webhook.received for webhook in push.registrations)
    reach = reachable(receiver.base_url, agent_url, came=delivered)
    style = {True: "$state-good", False: "$state-bad", None: "$state-warning"}[reach.good]
    public = plain(receiver.advertised) if receiver.advertised else Content.styled("none", quiet)
    address = Content.assemble(
        (f"{'address':<{_LABEL}}", quiet), plain(receiver.authority), ("   public URL  ", quiet), public
    )
    lines = [address, Content.assemble((f"{'reachable':<{_LABEL}}", quiet), plain(reach.words).stylize(style))]
    if push.relay.url:
        target = plain(push.relay.url).stylize("$wire-sent")
        lines.append(Content.assemble((f"{'forwarding':<{_LABEL}}", quiet), "to ", target))
    return lines


def reconciled(
    found: Reconciliation, chains: list[tuple[Chain, bool | None]], now: float, width: int, glyphs: Glyphs
) -> list[Paragraph]:
    """Return the updates by stream, push and GetTask as a table of a width in cells, remarks on it, and the retries.

    `chains` has, for each chain of attempts, whether the task did not change meanwhile, None if unknown.
    """
    if not found.updates:
        return [_line("", "line--soft", "No event of this task was recorded yet.")]
    began = found.updates[0].first
    head = "".join(f"{title:<{_CELL}}" for title in Source)
    longest = max(cell_len(_what(update, glyphs)) for update in found.updates) + len("  ")
    what = max(_LEAST_WHAT, min(longest + 1, width - len(head) - _DELAY_WIDTH))
    lines = [labelled("  update", f"{head}{_DELAY}", what, "line--soft")]
    lines += [_update(update, began, what, glyphs) for update in found.updates]
    counted = ", ".join(f"{count:,} by {source}" for source, count in found.events.items())
    lines += [BLANK, _line("  events      ", "line--soft", counted)]
    lines += [_line(f"{glyphs.folded} ", "line--warning", remark) for remark in found.words]
    if chains:
        lines += [BLANK, _line("  retries", "line--soft", "")]
    for chain, unchanged in chains:
        mark, style = (glyphs.check, "line--good") if chain.accepted else (glyphs.cross, "line--bad")
        first = chain.attempts[0]
        lines.append(
            _line(f"{mark} #{first.seq:<6}", style, f"{first.answer}: {chain.words(now)}{_MEANWHILE[unchanged]}")
        )
    return lines


def _what(update: Update, glyphs: Glyphs, width: int = _MOST_WHAT) -> str:
    """Return the state or the kind of an update and its text in at most `width` cells."""
    what = state_cell(update.state, glyphs)[0] if update.state else update.what
    return clean_line(f"{what}  {update.name}", width)


def _update(update: Update, began: float, width: int, glyphs: Glyphs) -> Paragraph:
    delay = "" if update.delay is None else f"{update.delay * 1000:+,.0f} ms"
    shown = _what(update, glyphs, width - 3)
    head = f"{glyphs.cross if update.differs else ' '} {shown}{' ' * (width - 2 - cell_len(shown))}"
    text = "".join(f"{_seen(update.reports.get(source), began):<{_CELL}}" for source in Source) + delay
    return _line(head, "line--bad" if update.differs else "line--text", text)


def _seen(seen: SourceReport | None, began: float) -> str:
    if seen is None:
        return "-"
    return f"{duration(max(0.0, seen.at - began))}{f' x{seen.times:,}' if seen.times > 1 else ''}"


def diagnosed(found: Diagnosis, glyphs: Glyphs) -> list[Paragraph]:
    """Return the causes, the likeliest first, each with its evidence and its remedy."""
    lines: list[Paragraph] = []
    if found.accepted:
        text = "1 delivery was" if found.accepted == 1 else f"{found.accepted:,} deliveries were"
        lines.append(_line(f"{glyphs.check} ", "line--good", f"{text} accepted"))
        if found.missing_end:
            text = f"the task is {short(found.missing_end)}, and this state was not pushed: it is late or missing"
            lines.append(_line(f"{glyphs.cross} ", "line--bad", text))
        lines.append(BLANK)
    ruled_out: list[Paragraph] = []
    for cause in found.causes:
        evidence = f"{cause.name}: {cause.evidence}"
        if cause.likely < len(_SURE):
            word, style = _SURE[cause.likely]
            lines.append(_line(f"{word:<10}", style, evidence))
            lines.append(labelled("", cause.remedy, 10, "line--warning"))
        else:
            ruled_out.append(_line(f"{glyphs.quiet} ", "line--quiet", evidence, "line--soft"))
    if ruled_out:
        lines += [BLANK] if found.causes[0].likely < len(_SURE) else []
        lines.append(_line("ruled out", "line--soft", ""))
    others = [BLANK, _line(f"{glyphs.quiet} ", "line--quiet", found.others, "line--soft")] if found.others else []
    return lines + ruled_out + others


def _line(head: str, style: str, text: str, text_style: str = "line--text") -> Paragraph:
    return Paragraph((head, style), text, text_style)
