"""A view of facts, findings and other paragraphs, which can be searched."""

from __future__ import annotations

from inspector.tui.render.highlight import HighlightedLines
from inspector.tui.render.text_lines import LineSource, Paragraph, Paragraphs
from inspector.tui.widgets.lines import LineView


class FactView(LineView):
    """Lines in the styles of good and bad results, which can be searched."""

    DEFAULT_CSS = """
    FactView {
        & > .line--good { color: $state-good; }
        & > .line--warning { color: $state-warning; }
        & > .line--bad { color: $state-bad; }
        & > .line--strong { color: $foreground; text-style: bold; }
        & > .line--hit { color: $state-warning; text-style: bold underline; }
    }
    """
    enter_hint = ""
    """What enter does in the view around this, in one or two words for the footer."""
    _found_at = 0
    """The line of the current hit."""

    @property
    def text(self) -> str:
        """The lines as text."""
        lines = (self.source.line(index) for index in range(len(self.source)))
        return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)

    def show(self, source: LineSource) -> None:
        """Draw another source; the search starts again."""
        self._found_at = 0
        super().show(HighlightedLines(source))

    def show_again(self, source: LineSource) -> None:
        """Draw other lines about the same thing, from the line that was at the top."""
        top = self.top
        self.show(source)
        self.scroll_to(y=top, animate=False, force=True)

    def item(self, index: int) -> Paragraph | None:
        """Return the paragraph of a line, None if the lines are not paragraphs."""
        source = self.source.source if isinstance(self.source, HighlightedLines) else self.source
        return source.item(index) if isinstance(source, Paragraphs) else None

    def find(self, words: str) -> str:
        """Highlight a text, go to its first hit from the top line on, and return how many hits there are, in words."""
        if not isinstance(self.source, HighlightedLines):
            return "no match"
        count = self.source.find(words)
        self._found_at = self.top
        number = self.next_hit(1, here=True)
        self.refresh_source()
        return f"{number:,} of {count:,}" if count else "no match" if words else ""

    def next_hit(self, step: int, *, here: bool = False) -> int:
        """Go to the next hit in a direction, from the current line itself if `here`; return its number or 0."""
        hit = (
            self.source.next_hit(self._found_at, step, here=here) if isinstance(self.source, HighlightedLines) else None
        )
        if hit is None:
            return 0
        self._found_at, number = hit
        if not self.top <= self._found_at < self.top + self.size.height:
            self.scroll_to(y=max(0, self._found_at - self.size.height // 3), animate=False, force=True)
        return number
