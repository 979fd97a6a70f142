"""The menu of the forms in which a record and its exchange can be copied."""

from __future__ import annotations

from inspector.capture.records import Kind, Record
from inspector.protocol.errors import FaultError
from inspector.session.exporters import curl, httpx_program
from inspector.session.exporters.http_exchange import HttpExchange
from inspector.session.payload import OPERATIONS
from inspector.session.session import Session
from inspector.tui import lazy_loading
from inspector.tui.render import detail
from inspector.tui.render.text_lines import as_text
from inspector.tui.screens.menu import Entry, copy_entry
from inspector.tui.widgets.json_view import JsonView


def copy_menu(session: Session, record: Record, view: JsonView | None, *, whole: bool) -> list[Entry | str]:
    """Return the entries of the menu, each with a function that returns the text.

    `view` shows the decoded payload of the record, or is None if another representation is shown. If `whole`, the
    exchange is selected: the menu has no entries for one of its records.
    """
    menu: list[Entry | str] = []
    if view is not None and view.json:
        menu += ["Value under the cursor", copy_entry("JSON", lambda: view.json)]
        menu.append(copy_entry("Pointer", lambda: view.pointer))
    if not whole:
        menu += [detail.title(record), *_record_entries(session, record)]
    if record.exchange:
        exchange = HttpExchange.read(session.journal.capture, record.exchange)
        menu += ["Request", *_request_entries(session, exchange)]
        menu += ["Response", *_response_entries(session, exchange)]
        menu += ["Check file (a2a-inspect check)", *_check_entries(session, record)]
    return menu


def _record_entries(session: Session, record: Record) -> list[Entry]:
    payload = session.payload(record)
    return [
        copy_entry("Payload", (lambda: payload.decode("utf-8", "replace")) if payload else None),
        copy_entry("Raw bytes as text", (lambda: record.raw.decode("utf-8", "replace")) if record.raw else None),
        copy_entry("Headers and facts", lambda: as_text(detail.facts(record))),
    ]


def _request_entries(session: Session, exchange: HttpExchange) -> list[Entry]:
    request = exchange.request
    entries = [
        copy_entry("URL", (lambda: str(request.meta["url"])) if request.kind is Kind.REQUEST else None),
        copy_entry("Request as HTTP text", lambda: exchange.request_text(session.payload)),
    ]
    body = session.payload(request)
    entries.append(copy_entry("Request body", (lambda: body.decode("utf-8", "replace")) if body else None))
    for name, write in (("curl command", curl.write), ("Python program (httpx)", httpx_program.write)):
        try:
            text = write(curl.signed_request(request, session.credentials.current))
        except FaultError as error:
            entries.append(Entry(name, None, error.fault.seen, enabled=False))
        else:
            entries.append(Entry(name, lambda text=text: text))
    return entries


def _response_entries(session: Session, exchange: HttpExchange) -> list[Entry]:
    has_body = any(record.kind in (Kind.BODY, Kind.FRAME) for record in exchange.bodies)
    return [
        copy_entry(
            "Response as HTTP text", (lambda: exchange.response_text(session.payload)) if exchange.response else None
        ),
        copy_entry(
            "Response body",
            (lambda: exchange.response_body(session.payload).decode("utf-8", "replace")) if has_body else None,
        ),
    ]


def _check_entries(session: Session, record: Record) -> list[Entry]:
    def write(numbers: list[int]) -> str:
        try:
            return lazy_loading.recorded_check(session, numbers)[0]
        except FaultError as error:
            return f"# {error.fault.sentence()}\n"

    capture = session.journal.capture
    possible = capture.get(record.exchange).operation in OPERATIONS
    of_task = capture.exchanges_of(record.task) if record.task else []
    return [
        copy_entry("Check of this exchange", (lambda: write([record.exchange])) if possible else None),
        copy_entry("Check of all exchanges of the task", (lambda: write(of_task)) if len(of_task) > 1 else None),
    ]
