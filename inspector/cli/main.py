"""The program `a2a-inspect`: dispatch to the TUI or a subcommand; never print a traceback.

Nothing heavy is imported before the command is known: the TUI and each command are loaded by name.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from itertools import pairwise, takewhile
from pathlib import Path
from types import ModuleType

from inspector import PROGRAM, __version__
from inspector.cli.arguments import Parser, invocation
from inspector.cli.commands import beginning_with, find, help_of_group, main_parser
from inspector.cli.commands.screen import open_screen
from inspector.cli.commands.suggest import looks_like_command, unknown_command
from inspector.cli.errors import BROKEN_PIPE, FAILURE, INTERRUPTED, OK, exit_code, usage
from inspector.cli.option_reader import HelpRequested
from inspector.cli.output import Output, OutputLostError
from inspector.cli.unknown_variables import misspelt_variables
from inspector.env_files import PREFIX, EnvFiles, load_env_files
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.settings_file import load


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line (default: `sys.argv`) and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _prepare_streams()
    files = load_env_files(_value_of(words, "--config", EnvFiles()))
    form, color = _value_of(words, "--output", files, "-o"), _value_of(words, "--color", files)
    out = Output(sys.stdout, sys.stderr, json=form == "json", color=color)
    try:
        code = _guarded(words, out, files)
        out.flush()
        return code
    except OutputLostError as lost:
        # Otherwise the interpreter reports an error when it flushes the stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), lost.stream.fileno())
        if isinstance(lost.error, BrokenPipeError):
            return BROKEN_PIPE
        if lost.stream is sys.stdout:
            sys.stderr.write(f"Error: The output could not be written: {lost}.\n")
        return FAILURE


def _skip_additions_to_libraries() -> None:
    """Keep httpx from loading its command line (click, rich: 30 ms), and pydantic from searching for plugins (5 ms)."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    replacement = ModuleType("httpx._main")
    replacement.__dict__["main"] = lambda: None
    sys.modules.setdefault(replacement.__name__, replacement)


def _guarded(words: list[str], out: Output, files: EnvFiles) -> int:
    """Run a command line, report any error, and return the exit code."""
    try:
        return _dispatch(words, out, files)
    except FaultError as error:
        out.fail(error.fault)
        return exit_code(error.fault)
    except KeyboardInterrupt:
        return INTERRUPTED
    except HelpRequested as wanted:
        out.write(str(wanted))
        return OK
    except OutputLostError:
        raise
    except Exception as error:  # noqa: BLE001 - reported without a traceback unless --debug asks for it
        if isinstance(error, FileNotFoundError) and _is_folder_deleted():
            fault = usage("The current folder was deleted.", "Change to another folder.").fault
            out.fail(fault)
            return exit_code(fault)
        debug = "--debug" in words
        for line in "".join(traceback.format_exception(error)).splitlines() if debug else ():
            out.line_to_stderr("debug", line)
        hint = "Please report this error." if debug else "Please report this error, with the output of --debug."
        out.fail(Fault(Whose.OURS, FaultCode.INTERNAL, f"Internal error: {type(error).__name__}: {error}.", hint))
        return FAILURE


def _is_folder_deleted() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _dispatch(words: list[str], out: Output, files: EnvFiles) -> int:
    if words in (["-v"], ["--version"]):  # also if a file has a mistake
        out.write(f"{PROGRAM} {__version__}\n")
        return OK
    if words[:1] == ["help"]:
        return _help(words[1:], out)
    if words[:2] == ["complete", "--"]:
        return _complete(words[2:], out)
    if not words or not beginning_with(words[:1]):
        if looks_like_command(words):
            raise unknown_command(words, or_agent=True)
        given = main_parser().read(words, os.environ, load, files)
        if not given.version:
            _skip_additions_to_libraries()
            return open_screen(invocation(given), out)
        out.write(f"{PROGRAM} {__version__}\n")
        return OK
    command = find(words)
    if command is None:
        if {"--help", "-h"} & set(words):
            return _help([*takewhile(lambda word: not word.startswith("-"), words)], out)
        raise unknown_command(words)
    parser = command.parser()
    given = parser.read(words[len(command.words) :], os.environ, load, files)
    _warn_about_variables(parser, files, out)
    _skip_additions_to_libraries()
    return command.handler().run(invocation(given), out)


def _warn_about_variables(parser: Parser, files: EnvFiles, out: Output) -> None:
    """Warn of files with secrets that other users can read, and of misspelt variables."""
    for file in (files.local, files.user):
        if file.exposed:
            out.warn(f"{file.path} contains a secret, and other users can read it: chmod 600 {file.path}")
    for warning in misspelt_variables(parser.variables, files):
        out.warn(warning)


def _help(words: list[str], out: Output) -> int:
    forms = {"--json", "--skill"} & set(words)
    words = [word for word in words if word not in forms]
    command = find(words)
    if command is None and words != ["help"] and not beginning_with(words):
        raise unknown_command(words)
    if "--skill" in forms:
        out.write(Path(__file__).with_name("SKILL.md").read_text(encoding="utf-8"))
    elif "--json" in forms:
        from inspector.cli.command_table import command_table  # noqa: PLC0415 - loads every command

        out.document(command_table([command] if command else beginning_with(words) if words else []))
    elif command is None and words and words != ["help"]:
        out.write(help_of_group(words))
    else:
        out.write((command.parser() if command else main_parser()).format_help())
    return OK


def _complete(words: list[str], out: Output) -> int:
    from inspector.cli.complete import complete  # noqa: PLC0415 - only a shell calls it

    out.write("".join(f"{line}\n" for line in complete(words)))
    return OK


def _value_of(words: Sequence[str], name: str, files: EnvFiles, letter: str | None = None) -> str:
    """Find the value of an option before the command line is parsed: it decides how errors about it are printed."""
    variable = f"{PREFIX}{name.removeprefix('--').upper()}"
    value = os.environ.get(variable) or files.get(variable)
    for word, after in pairwise([*takewhile(lambda word: word != "--", words), ""]):
        if word in (name, letter):
            value = after
        elif word.startswith(f"{name}="):
            value = word.partition("=")[2]
        elif letter and word.startswith(letter):
            value = word.removeprefix(letter)
    return value


def _prepare_streams() -> None:
    """Open missing streams, and make them accept any character in any locale."""
    if sys.stdin is None:  # closed by the parent process
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - for the whole run
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the parent process
            # Read-only for stdout, so that a lost result is an error, as with a full disk
            mode = os.O_RDONLY if name == "stdout" else os.O_WRONLY
            setattr(sys, name, os.fdopen(os.open(os.devnull, mode), "w", encoding="utf-8"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    raise SystemExit(main())
