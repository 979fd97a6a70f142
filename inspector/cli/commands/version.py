"""`version`: print the version, or the facts that a bug report needs."""

from __future__ import annotations

from inspector.cli.arguments import Deferred, Handler, Parser

_NOTES = """\
With --verbose: the versions of Python, of the system and of the libraries, which extras are installed, the folders, the
terminal, and the names of variables that change the behaviour. No secrets are printed, and ~ is your home folder."""

_EXAMPLES = """\
# Print the version
a2a-inspect version
# Print what a bug report needs
a2a-inspect version --verbose"""


def _add_arguments(parser: Parser) -> None:
    parser.switch("--verbose", "also print the versions of libraries, the extras, the folders and the terminal")
    parser.add_format("text", "json")


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.version:version"), _EXAMPLES, _NOTES)
