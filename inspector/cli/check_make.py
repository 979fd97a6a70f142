"""`check make`: make a check file from a capture."""

from __future__ import annotations

from contextlib import ExitStack

from inspector.cli.arguments import Invocation
from inspector.cli.errors import OK
from inspector.cli.opened_capture import opened_capture, read_filter
from inspector.cli.output import Output
from inspector.session.check.recorded.making import make_check
from inspector.session.check.recorded.yaml_text import write_yaml


def make(invocation: Invocation, out: Output) -> int:
    """Print a check file made from the exchanges of a capture; raises `FaultError` if there is none."""
    given = invocation.given
    query = read_filter(given.filter)
    with ExitStack() as opened:
        captures = [opened.enter_context(opened_capture(path, out)) for path in (given.file, *(given.others or ()))]
        made = make_check(captures[0], query, others=captures[1:])
    for note in made.notes:
        out.warn(note)
    if out.json:
        out.document(made.document)
    else:
        comment = f"made by a2a-inspect from {given.file.name}; run it with: a2a-inspect check FILE -a URL"
        out.verbatim(write_yaml(made.document, [comment]))
    return OK
