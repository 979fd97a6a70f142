"""`completion`: print the completion script of a shell."""

from __future__ import annotations

from inspector.cli.arguments import Deferred, Handler, Parser

SHELLS = ("bash", "zsh", "fish", "powershell")

_NOTES = """\
The script completes commands, options, their values, recent agents, and the tasks of the newest capture. It calls
a2a-inspect for each completion, so that it does not have to be updated."""

_EXAMPLES = """\
# Complete command lines in this bash
source <(a2a-inspect completion bash)
# Complete command lines in this zsh
source <(a2a-inspect completion zsh)"""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"{', '.join(SHELLS[:-1])} or {SHELLS[-1]}")


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.completion:completion"), _EXAMPLES, _NOTES)
