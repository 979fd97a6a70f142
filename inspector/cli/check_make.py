"""`check make`: make a check file from a capture."""

from __future__ import annotations

from contextlib import ExitStack

from inspector.capture.private_files import CaptureError
from inspector.capture.query import Mistake, parse
from inspector.capture.store import Capture
from inspector.cli.arguments import Invocation
from inspector.cli.errors import OK, usage
from inspector.cli.output import Output
from inspector.session.check.recorded.making import make_check
from inspector.session.check.recorded.yaml_text import write_yaml
from inspector.session.replay.validation import validated


def make(invocation: Invocation, out: Output) -> int:
    """Print a check file made from the exchanges of a capture; raises `FaultError` if there is none."""
    given = invocation.given
    query = parse(" ".join(given.filter)) if given.filter else None
    if isinstance(query, Mistake):
        raise usage(query.sentence, "docs/filter.md describes filters.")
    try:
        with ExitStack() as opened:
            captures = [
                opened.enter_context(Capture.open(path, validated)) for path in (given.file, *(given.others or ()))
            ]
            made = make_check(captures[0], query, others=captures[1:])
    except CaptureError as error:
        raise usage(str(error), "Check the path: captures are files written with --capture.") from error
    for note in made.notes:
        out.warn(note)
    if out.json:
        out.document(made.document)
    else:
        comment = f"made by a2a-inspect from {given.file.name}; run it with: a2a-inspect check FILE -a URL"
        out.verbatim(write_yaml(made.document, [comment]))
    return OK
