"""Find cards: list the URLs to try, and read the responses (1.0 sections 8.2 and 14.3, 0.3 section 5.3)."""

from __future__ import annotations

import shlex
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from inspector import PROGRAM
from inspector.lazy_dataclass import dataclass
from inspector.protocol.ai_catalog import WELL_KNOWN as CATALOG_PATH
from inspector.protocol.card import CARD_PATHS, AgentCard
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import read_card
from inspector.protocol.errors import Fault, FaultCode, FaultError, FaultKind, Whose, usage_error
from inspector.protocol.http_status import DENYING, REDIRECTING
from inspector.protocol.jsonvalue import parse, type_name
from inspector.protocol.model import Json, Unreadable
from inspector.text.file_kind import har_hint, is_capture
from inspector.text.limited_file import read_limited
from inspector.text.reference import grpc_url, is_grpc, local_path, with_scheme
from inspector.wire.client.faults import PROXY_HINT

_CORRECT_CARD = "Correct the card; A2A 1.0 lists its required members in section 4.4.1."


@dataclass(frozen=True, slots=True)
class FoundCard:
    """A card, its bytes and the dialect in which it is written."""

    card: AgentCard
    dialect: Dialect
    raw: bytes

    @property
    def value(self) -> Json:
        """Return all members of the card in the canonical JSON, also those of the wrong type, which `card` lacks."""
        return self.dialect.import_card(parse(self.raw))

    @property
    def mistake(self) -> str:
        """Return the first reason for which a strict reader cannot read the card, `""` if it can."""
        return self.dialect.mistake_in_card(parse(self.raw))


@dataclass(frozen=True, slots=True)
class InvalidCard:
    """A card that cannot be read; `why` is the mistake."""

    why: str

    def __str__(self) -> str:
        """Return the outcome of a fetch as a text."""
        return f"a card that cannot be read: {self.why}"


class PrivateRedirect(NamedTuple):
    """A redirect to a private address that was not followed: from which origin to which origin and address.

    `in_catalog` is whether it is not a redirect, but the URL of an entry of a catalog.
    """

    source: str
    origin: str
    address: str
    in_catalog: bool = False


class PrivateRedirectError(FaultError):
    """A card was not fetched, because a redirect to a private address is followed only if its origin is trusted."""

    def __init__(self, fault: Fault, redirect: PrivateRedirect) -> None:
        super().__init__(fault)
        self.redirect = redirect


def name_of(reference: str) -> str:
    """Return a short name of a reference without secrets: host and port of a URL, or the name of a card file."""
    path = local_path(reference)
    if path is not None:
        return path.name
    try:
        return urlsplit(with_scheme(reference)).netloc.rpartition("@")[2]
    except ValueError:  # brackets without an address
        return ""


def candidates(reference: str) -> list[str]:
    """List the URLs to try: the well-known paths below the URL, those at the root, then the URL itself.

    For the URL of a JSON file or of a well-known path, and for an invalid URL, list only the URL itself.
    """
    url = with_scheme(reference)
    try:
        parts = urlsplit(url)
    except ValueError:
        return [url]
    if parts.path.endswith(".json") or "/.well-known/" in parts.path:
        return [url]
    path = parts.path.rstrip("/")
    folders = [path, ""] if path else [""]
    paths = [*(folder + known for folder in folders for known in CARD_PATHS), parts.path or "/"]
    return [urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")) for path in paths]


def path_without_card(reference: str, url: str, card: AgentCard) -> str:
    """Return the path of a reference if a card is of another agent of its host, else `""`.

    A card is of the agent if its URL (`url`) or the URL of one of its interfaces is below the path.
    """
    path = _path(with_scheme(reference)).rstrip("/")
    interfaces = (_path(each.url or "", url) for each in card.supported_interfaces)
    is_below = any(f"{each}/".startswith(f"{path}/") for each in (_path(url), *interfaces))
    return "" if not path or is_below else path


def _path(url: str, base: str = "") -> str:
    """Return the path of a URL, `""` if it cannot be read; it may come from a card."""
    try:
        return urlsplit(urljoin(base, url)).path
    except ValueError:  # brackets without an address
        return ""


def split_entry(reference: str) -> tuple[str, str]:
    """Return the catalog and the name of the entry in a reference; the name is `""` if it is not an entry.

    A path that exists and contains `#` is a file.
    """
    catalog, _, name = reference.partition("#")
    path = local_path(reference)
    return (reference, "") if path is not None and path.exists() else (catalog, unquote(name))


def is_in_catalog(reference: str) -> bool:
    """Return whether a reference names a catalog or an entry of one explicitly: with `#`, or by its well-known path."""
    return reference.endswith(CATALOG_PATH) or ("#" in reference and split_entry(reference)[0] != reference)


def catalog_url(catalog: str) -> str:
    """Return the URL of a catalog: the well-known path is added to a host, as for cards."""
    url = with_scheme(catalog)
    try:
        parts = urlsplit(url)
    except ValueError:  # the client rejects it
        return url
    return urlunsplit(parts._replace(path=CATALOG_PATH)) if parts.path in ("", "/") else url


def what_happens(reference: str) -> str:
    """Return what connecting to a reference does, in words; raises `OSError` if it is a path that cannot be read."""
    if is_in_catalog(reference):
        place, name = split_entry(reference)
        path = local_path(place)
        read = f"Fetch the catalog {catalog_url(place)}" if path is None else f"Read the catalog {path}"
        return f"{read}, and {f'connect to its entry {name}' if name else 'list its agents'}"
    if is_grpc(reference):
        return f"Read the card over gRPC from {grpc_url(reference)}"
    path = local_path(reference)
    if path is not None:
        return f"Read the card file {path}" if path.is_file() else f"There is no file {path}"
    first, *others = candidates(reference)
    return f"Fetch the card from {first}" + (f", else from {len(others)} other paths" if others else "")


def read_answer(status: int, content_type: str, raw: bytes) -> FoundCard | InvalidCard | str:
    """Return the card of a response, or the reason why it is not a card."""
    if status != 200:
        reasons = {
            401: "401, credentials are required",
            403: "403, refused: credentials may be missing or insufficient",
        }
        return reasons.get(status, str(status))
    return read_bytes(raw, content_type)


def read_bytes(raw: bytes, content_type: str = "application/json") -> FoundCard | InvalidCard | str:
    """Return the card in some bytes, or the reason why they are not a card."""
    value = parse(raw)
    if isinstance(value, Unreadable):
        served = f" ({content_type})" if content_type and "json" not in content_type else ""
        return f"{value.why}{served}"
    if not isinstance(value, dict):
        return f"JSON, but {type_name(value)} instead of an object"
    if not value:
        return InvalidCard("it is an empty object")
    if not {"name", "skills", "capabilities", "supportedInterfaces", "url"} & value.keys():
        return "JSON, but without the members of a card"
    card, dialect = read_card(value)
    if isinstance(card, Unreadable):
        return InvalidCard(card.why)
    return FoundCard(card, dialect, raw)


def read_file(path: Path) -> FoundCard:
    """Read a card from a file; raises `FaultError`."""
    return read_given(read_raw(path), f"file {path}", har_hint(path))


def read_given(raw: bytes, place: str, hint: str = "") -> FoundCard:
    """Read a card that the user has; raises `FaultError`, which names the `place`, with a hint if it is not a card."""
    found = read_bytes(raw)
    if isinstance(found, FoundCard):
        return found
    seen, hint = f"The {place} is not a card: {found}.", hint or "A card is a JSON object in UTF-8."
    if isinstance(found, InvalidCard):
        seen, hint = f"The card in the {place} is invalid: {found.why}.", _CORRECT_CARD
    raise FaultError(Fault(Whose.YOURS, FaultCode.CARD_INVALID, seen, hint))


def read_raw(path: Path) -> bytes:
    """Return the bytes of a card file; raises `FaultError`, also for a capture."""
    try:
        raw = read_limited(path)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        seen = f"The card file {path} could not be read: {getattr(error, 'strerror', None) or error}."
        hint = "Check the path, or write a URL with http:// or https://."
        raise FaultError(Fault(Whose.YOURS, FaultCode.CARD_NOT_FOUND, seen, hint)) from error
    if is_capture(raw):
        quoted = shlex.quote(str(path))
        show, serve = f"{PROGRAM} open {quoted}", f"{PROGRAM} mock --capture {quoted}"
        raise usage_error(f"{path} is a capture, not an agent.", f"Show it: {show}. Serve it as an agent: {serve}.")
    return raw


LOGIN_PAGE_HINT = (
    "Only a browser can log in there: exclude the URL of the agent from the login of the web server or proxy, or add "
    "the header that it accepts with --header."
)
"""What to do if a web server or a proxy redirects to a page for users."""


def not_found(
    reference: str,
    attempts: list[tuple[str, str]],
    statuses: set[int],
    *,
    invalid: bool = False,
    private: str = "",
    login_page: str = "",
    withheld: bool = False,
    broken: Fault | None = None,
    retry: str = "",
) -> Fault:
    """Return the fault of a card that was not found: the outcome at each url, and the next step.

    `invalid` is whether an outcome is a card that cannot be read; `private` is the origin of a redirect that was not
    followed, because it leads to a private address; `login_page` is the URL of a login page to which the card
    redirects; `withheld` is whether there are credentials that were not sent; `broken` is the fault of a response that
    is not complete; `retry` is when to try again after a response that refuses requests for now.
    """
    outcomes = "; ".join(f"{url}: {outcome}" for url, outcome in attempts)
    if private:
        seen = f"The card of {reference} was not fetched ({outcomes})."
        return Fault(Whose.YOURS, FaultCode.CARD_NOT_FOUND, seen, f"If you trust the address, add --trust {private}.")
    if statuses & DENYING:
        return _denied(reference, outcomes, statuses)
    if HTTPStatus.PROXY_AUTHENTICATION_REQUIRED in statuses:
        seen = f"The proxy requires credentials for the card of {reference} ({outcomes})."
        return Fault(Whose.YOURS, FaultCode.UNREACHABLE, seen, PROXY_HINT)
    if login_page:
        seen = f"The card of {reference} redirects to a login page: {login_page}."
        return Fault(Whose.AGENT, FaultCode.CARD_NOT_FOUND, seen, LOGIN_PAGE_HINT, kind=FaultKind.LOGIN_PAGE)
    if invalid:
        seen = f"The card of {reference} is invalid ({outcomes})."
        return Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, _CORRECT_CARD)
    if broken is not None:
        seen = f"No card was found at {reference} ({outcomes})."
        return Fault(broken.whose, FaultCode.CARD_NOT_FOUND, seen, broken.hint)
    whose = Whose.AGENT if statuses & REDIRECTING else Whose.YOURS  # without a redirect, the URL itself may be wrong
    hint = "Check that this is the base URL of the agent; its documentation or log names the URL of the card."
    if max(statuses, default=0) >= HTTPStatus.INTERNAL_SERVER_ERROR:
        whose = Whose.AGENT
        hint = "A status from 500 on is an error of the server: check its log, or that of a proxy before it."
    if HTTPStatus.TOO_MANY_REQUESTS in statuses:
        whose, hint = Whose.AGENT, "The server refuses requests for now (429)."
    hint = f"{hint} {retry}".rstrip()
    hint += " If a proxy requires credentials, add --auth-card." if withheld else ""
    seen = f"No card was found at {reference} ({outcomes})."
    return Fault(whose, FaultCode.CARD_NOT_FOUND, seen, hint)


def _denied(reference: str, outcomes: str, statuses: set[int]) -> Fault:
    """Return the fault of a card that requires credentials, or that was refused (403)."""
    code = FaultCode.AUTH_FAILED if 403 in statuses else FaultCode.CREDENTIALS_MISSING
    seen, kind = f"The card of {reference} requires credentials ({outcomes}).", None
    hint = "Add --bearer TOKEN or --header 'Name: value'."
    if 401 not in statuses:
        seen, kind = f"The card of {reference} was refused ({outcomes}).", FaultKind.UNEXPLAINED_DENIAL
        hint = "If credentials are missing: add --bearer TOKEN or --header 'Name: value'."
    if 403 in statuses:
        hint += " Unless --auth-card is given, they are sent only after a response with status 401."
    return Fault(Whose.YOURS, code, seen, hint, kind=kind)
