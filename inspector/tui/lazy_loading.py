"""Functions that import a module on first use; each docstring states the start-up time that this saves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from textual.screen import Screen

    from inspector.capture.records import Record
    from inspector.protocol.model import Json
    from inspector.session.check.loaded_checks import LoadedChecks
    from inspector.session.check.result import RunResult
    from inspector.session.check.source import Problem
    from inspector.session.compose.draft import Draft
    from inspector.session.journal import Journal
    from inspector.session.push.comparison import Comparison
    from inspector.session.push.diagnose import Diagnosis
    from inspector.session.replay.recording import Recording
    from inspector.session.session import Session
    from inspector.tui.compose.preview import RawRequest
    from inspector.tui.credential_dialogs import CredentialDialogs
    from inspector.tui.render.glyphs import Glyphs
    from inspector.tui.screens.compose import ComposeScreen
    from inspector.tui.screens.doctor import DoctorScreen
    from inspector.tui.screens.form import FormScreen
    from inspector.tui.screens.settings import SettingsScreen
    from inspector.tui.screens.translate import TranslateScreen
    from inspector.tui.widgets.card_editor import CardEditor
    from inspector.tui.widgets.tour import Tour
    from inspector.wire.client.client_certificate import PassphraseError


def recorded_check(session: Session, numbers: Sequence[int]) -> tuple[str, Sequence[str]]:
    """Return a check file of some exchanges, and notes about them; raises `FaultError`. Saves 40 ms."""
    from inspector.session.check.recorded.making import make_check  # noqa: PLC0415 - see above
    from inspector.session.check.recorded.yaml_text import write_yaml  # noqa: PLC0415 - see above

    made = make_check(session.journal.capture, numbers=numbers)
    return write_yaml(made.document, ["made by a2a-inspect"]), made.notes


def compose_screen(session: Session, draft: Draft, *, stream: bool, raw: RawRequest | None = None) -> ComposeScreen:
    """Return the screen to compose a message; saves 19 ms."""
    from inspector.tui.screens.compose import ComposeScreen  # noqa: PLC0415 - see above

    return ComposeScreen(session, draft, stream=stream, raw=raw)


def doctor_screen(session: Session, reference: str, glyphs: Glyphs) -> DoctorScreen:
    """Return the screen of the doctor for the agent of a reference; saves 9 ms."""
    from inspector.session.doctor.doctor import Doctor  # noqa: PLC0415 - see above
    from inspector.tui.screens.doctor import DoctorScreen  # noqa: PLC0415 - see above

    return DoctorScreen(Doctor(session, reference), glyphs)


def card_editor(glyphs: Glyphs) -> CardEditor:
    """Return the editor for a copy of the card; saves 9 ms."""
    from inspector.tui.widgets.card_editor import CardEditor  # noqa: PLC0415 - see above

    return CardEditor(glyphs, id="edit")


def describe_reference(typed: str) -> str:
    """Return what connecting to a typed text does; saves 60 ms."""
    from inspector.wire.discovery import what_happens  # noqa: PLC0415 - see above

    return what_happens(typed)


def credential_dialogs(screen: Screen[None], session: Session, glyphs: Glyphs, redirect_port: int) -> CredentialDialogs:
    """Return the dialogs for credentials; saves 5 ms."""
    from inspector.tui.credential_dialogs import CredentialDialogs  # noqa: PLC0415 - see above

    return CredentialDialogs(screen, session, glyphs, redirect_port)


def passphrase_form(needed: PassphraseError) -> FormScreen:
    """Return the dialog for the passphrase of a client certificate; saves 3 ms."""
    from inspector.tui.screens import credentials  # noqa: PLC0415 - see above

    return credentials.passphrase_form(needed)


def recording(path: Path) -> Recording:
    """Open a capture; saves 2 ms; raises `CaptureError`."""
    from inspector.session.replay.recording import Recording  # noqa: PLC0415 - see above

    return Recording(path)


def settings_screen() -> SettingsScreen:
    """Return the screen of the settings; saves 5 ms."""
    from inspector.tui.screens.settings import SettingsScreen  # noqa: PLC0415 - see above

    return SettingsScreen()


def translate_screen(record: Record, request: Record, step: str = "") -> TranslateScreen | None:
    """Return the screen with the translations of a record, None if it contains nothing to translate; saves 2 ms.

    In the tour, `step` is the text of its step.
    """
    from inspector.session.replay.translate import translations  # noqa: PLC0415 - see above
    from inspector.tui.screens.translate import TranslateScreen  # noqa: PLC0415 - see above

    found = translations(record, request)
    return TranslateScreen(found, step) if found else None


def tour(journal: Journal) -> Tour:
    """Return the guided tour; saves 2 ms."""
    from inspector.tui.widgets.tour import Tour  # noqa: PLC0415 - see above

    return Tour(journal)


async def ask_and_compare(session: Session, task_id: str) -> tuple[Comparison, str]:
    """Compare what stream, push and GetTask report of a task; also return why GetTask failed; saves 7 ms."""
    from inspector.protocol.operations import Operation  # noqa: PLC0415 - see above
    from inspector.session.push import comparison  # noqa: PLC0415 - see above

    reason = session.unavailable_reason(Operation.GET)
    capture = session.journal.capture
    return await comparison.ask_and_compare(capture, task_id, reason, lambda: session.get(task_id).finish())


async def diagnose(session: Session, task_id: str) -> Diagnosis:
    """Diagnose why the deliveries of a task are missing; saves 5 ms."""
    from inspector.session.push.diagnose import examine  # noqa: PLC0415 - see above

    return await examine(session, task_id)


def read_checks(paths: Sequence[Path], variables: Mapping[str, Json]) -> LoadedChecks | list[Problem]:
    """Read check files, and return their tests or all of their problems; saves 80 ms."""
    from inspector.session.check.loaded_checks import read_checks  # noqa: PLC0415 - see above
    from inspector.session.check.source import CheckFileError  # noqa: PLC0415 - see above

    try:
        return read_checks(paths, variables)
    except CheckFileError as error:
        return error.problems


def check_report(name: str, run: RunResult) -> str:
    """Return a report of results in the format with a name; saves 5 ms."""
    from inspector.session.check.reports import render  # noqa: PLC0415 - see above

    documents = render(name, run)
    return documents[0] if len(documents) == 1 else f"[{','.join(documents)}]\n"
