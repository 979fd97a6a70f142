"""Functions that import a module on first use, for the options that need more than their command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.cli.arguments import Invocation
    from inspector.cli.card_signatures import CardSignatures
    from inspector.cli.debug_log import Trace
    from inspector.cli.findings import FindingsPrinter
    from inspector.cli.output import Output
    from inspector.findings.finding import Finding
    from inspector.protocol.assemble import AssembledTask
    from inspector.protocol.model import Message, Task
    from inspector.session.journal import Journal
    from inspector.wire.client.client_certificate import PassphraseError


def trace(journal: Journal, out: Output) -> Trace:
    """Print every record on stderr, for `--debug`."""
    from inspector.cli.debug_log import Trace  # noqa: PLC0415 - see above

    return Trace(journal, out)


def findings_printer(journal: Journal, out: Output, *, skip: frozenset[str]) -> FindingsPrinter:
    """Print the findings, for `--findings`; loads the rules."""
    from inspector.cli.findings import FindingsPrinter  # noqa: PLC0415 - see above

    return FindingsPrinter(journal, out, skip=skip)


def print_card_findings(out: Output, findings: tuple[Finding, ...]) -> None:
    """Print the findings about a card, for `--validate`; loads the rules."""
    from inspector.cli.card_findings import print_findings  # noqa: PLC0415 - see above

    print_findings(out, findings)


def require_no_error(findings: tuple[Finding, ...]) -> None:
    """Raise `FaultError` if a finding about a card is an error; loads the rules."""
    from inspector.cli.card_findings import require_no_error  # noqa: PLC0415 - see above

    require_no_error(findings)


def card_signatures(invocation: Invocation, out: Output) -> CardSignatures:
    """Return the verification of the signatures of a card, for `--verify`; loads cryptography."""
    from inspector.cli.card_signatures import CardSignatures  # noqa: PLC0415 - see above

    return CardSignatures(invocation, out)


def ask_passphrase(needed: PassphraseError) -> str:
    """Ask for the passphrase of the client certificate in the terminal; raises the error without a terminal."""
    from inspector.cli.passphrase import ask_passphrase  # noqa: PLC0415 - see above

    return ask_passphrase(needed)


def save(out: Output, folder: Path, answer: AssembledTask | Task | Message) -> None:
    """Save the artifacts of an answer, for `--save`; raises `FaultError`."""
    from inspector.cli.saving import save  # noqa: PLC0415 - see above

    save(out, folder, answer)
