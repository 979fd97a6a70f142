"""`lint`: what is wrong with a card, from a file, a url or stdin, also with one that no client could read."""

from __future__ import annotations

import sys

from inspector.cli.arguments import Invocation
from inspector.cli.errors import FAILURE, OK
from inspector.cli.findings import as_json, count, in_words
from inspector.cli.output import Output
from inspector.cli.reports import junit, sarif
from inspector.cli.run_command import Run, run
from inspector.findings.finding import Severity
from inspector.findings.lint import Lint
from inspector.findings.lint import lint as lint_bytes
from inspector.findings.rules import RULES
from inspector.session.card.lint import lint_reference

_STDIN = "-"


def lint(invocation: Invocation, out: Output) -> int:
    """Lint a card; an error makes the command fail, with --strict a warning does so too."""
    found: list[Lint] = []

    async def work(current: Run) -> None:
        generation = invocation.given.generation or ""
        reference = current.reference()
        if reference == _STDIN:
            found.append(lint_bytes(sys.stdin.buffer.read(), generation=generation))
        else:
            found.append(await lint_reference(current.session, reference, generation))
        _print(out, found[0], invocation.given.output, reference)

    code = run(invocation, out, work)
    blocking = [Severity.ERROR, Severity.WARNING] if invocation.given.strict else [Severity.ERROR]
    failed = any(one.severity in blocking for one in found[0].findings) if found else False
    return code or (FAILURE if failed else OK)


def _print(out: Output, found: Lint, form: str, reference: str) -> None:
    match form:
        case "json":
            out.document([as_json(one) for one in found.findings])
        case "sarif":
            out.document(sarif(found.findings, reference))
        case "junit":
            out.write(junit(found.findings, reference))
        case _:
            for one in found.findings:
                out.field("Finding", in_words(one))
                out.field("  Ground", f"{RULES[one.rule].section}: {RULES[one.rule].demand}")
                out.field("  Remedy", RULES[one.rule].remedy)
            out.field("Judged as", found.generation or "no card")
            out.field("Findings", count(found.findings))
