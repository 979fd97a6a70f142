"""The report of the doctor."""

from __future__ import annotations

from dataclasses import field
from urllib.parse import urlsplit

from inspector.findings.finding import Finding
from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import Fault, FaultKind
from inspector.protocol.model import Json
from inspector.protocol.security import requirements_in_words
from inspector.protocol.selection import Choice, Option
from inspector.session.card_fetch import CardFetch
from inspector.wire.discovery import FoundCard

CREDENTIALS = "credentials"
"""The name of the step that compares the demanded with the declared credentials."""
STREAMING = "streaming"
"""The name of the step about a stream."""
PUSH = "push"
"""The name of the step about push notifications."""
TASK = "task"
"""The name of the step that compares a stream with GetTask."""
NOT_CHECKED = "not checked"
"""The beginning of the observation of a feature that was not checked."""
NEEDS_MESSAGE = f"{NOT_CHECKED}: needs --message"
"""The observation of a feature that only a message can check."""
REQUIRED = "credentials are required"
"""The beginning of the result if an interface requires credentials, and none were sent."""
REFUSED = "the request was refused"
"""The beginning of the result after 403 or PERMISSION_DENIED, which can have other reasons than credentials."""
REJECTED = "the credentials were rejected"
"""The beginning of the result if an interface did not accept the credentials that were sent."""


@dataclass(frozen=True, slots=True)
class Step:
    """One check; `passed` is None if the result is unknown.

    `message` is the result as text, `remedy` the next step after a failure, `seconds` the duration, `exchange` the
    number of its exchange, `fault` the failure of a connection or a request. `only_options` is whether the remedy names
    options of the command line for credentials, and nothing else. `card_path` is the path at which the card was looked
    for. `interface` is the name of the interface that was checked, `url` its URL on the card, `protocol` the protocol
    that was tried. They are `""` for other checks.
    """

    name: str
    passed: bool | None
    message: str
    seconds: float = 0.0
    remedy: str = ""
    exchange: int = 0
    fault: Fault | None = None
    only_options: bool = False
    card_path: str = ""
    interface: str = ""
    url: str = ""
    protocol: str = ""

    @property
    def denied(self) -> bool:
        """Return whether credentials are missing or were not accepted."""
        return self.fault is not None and self.fault.denied

    @property
    def fault_kind(self) -> FaultKind | None:
        """Return the kind of the failure."""
        return self.fault.kind if self.fault else None

    def to_json(self) -> dict[str, Json]:
        """Return the members of the JSON output."""
        names = ("name", "passed", "message", "seconds", "remedy", "exchange", "denied")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the card declares about a feature, and what was observed; `matches` is None if unknown."""

    feature: str
    declared: str
    observed: str
    matches: bool | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """An interface and a protocol version that answered, instead of a declared interface that did not."""

    choice: Choice
    reason: str


@dataclass(slots=True)
class Report:
    """The results of all checks, secrets masked; `fault` is None if the card was read.

    `interfaces` has a comparison for each interface of the card, `comparisons` those of other features.
    """

    reference: str
    steps: list[Step] = field(default_factory=list)
    interfaces: list[Comparison] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    fault: Fault | None = None

    @property
    def passed(self) -> bool:
        """Return whether no check failed."""
        return all(step.passed is not False for step in self.steps)


@dataclass(slots=True)
class InterfaceResult:
    """One declared interface: its confirmed protocols, and whether the check had no result or needs credentials.

    `demanded` is the scheme of the credentials, `""` if it is not known; `refused` is whether the request may have been
    refused for another reason.
    """

    name: str
    option: Option
    protocols: list[str] = field(default_factory=list)
    unknown: bool = False
    protected: bool = False
    demanded: str = ""
    refused: bool = False

    @property
    def denial(self) -> str:
        """Return why the interface denied a request without credentials."""
        return REFUSED if self.refused else REQUIRED


def protocol_name(choice: Choice) -> str:
    """Return the protocol of an interface: `1.0 over JSONRPC`."""
    return f"{choice.dialect.version} over {choice.binding.name}"


def compare_interface(result: InterfaceResult) -> Comparison:
    """Compare the declared with the confirmed protocols of an interface."""
    option = result.option
    interface, dialect, binding = option.interface, option.dialect, option.binding
    declared = f"{interface.protocol_version or '?'} over {interface.protocol_binding or '?'}"
    matches = None
    if dialect is not None and binding is not None and not result.unknown:
        matches = result.protocols == [f"{dialect.version} over {binding.name}"]
    seen = ", ".join(result.protocols) or "no protocol confirmed"
    return Comparison(result.name, declared, seen, matches)


def compare(
    card: AgentCard, results: list[InterfaceResult], message_steps: dict[str, Step], *, has_credentials: bool
) -> list[Comparison]:
    """Compare the features of a card with the results of the checks; `message_steps` has the checks of a message."""
    denials = {result.denial for result in results if result.protected}
    is_unclear = denials == {REFUSED} and not has_credentials
    required = bool(denials) and not is_unclear
    not_checked = NOT_CHECKED if message_steps else NEEDS_MESSAGE
    if not any(result.protocols for result in results):  # no message is sent
        reason = "no interface responded as expected"
        if denials:
            reason = REJECTED if has_credentials else REQUIRED if required else REFUSED
        not_checked = f"{NOT_CHECKED}: {reason}"
    rows: list[Comparison] = []
    capabilities = card.capabilities
    for feature, value, name in (
        ("streaming", capabilities.streaming, STREAMING),
        ("push notifications", capabilities.push_notifications, PUSH),
    ):
        declared, step = "yes" if value else "no" if value is False else "not declared", message_steps.get(name)
        observed, matches = (step.message, step.passed) if step else (not_checked, None)
        if matches is False:
            observed = f"not as declared: see the step {name}"
        rows.append(Comparison(feature, declared, observed, matches))
    demanded = ", ".join(dict.fromkeys(result.demanded for result in results if result.demanded))
    observed = f"required{f': {demanded}' if demanded else ''}"
    if not required:
        observed = f"unknown: {REFUSED}" if is_unclear else "sent" if has_credentials else "not required"
    undeclared = required and not any(card.security_requirements or ())
    rows.append(Comparison("credentials", requirements_in_words(card), observed, False if undeclared else None))
    return rows


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds: `call` for a response, `work` for a message, `push` for a delivery after the message."""

    call: float = 10.0
    work: float = 60.0
    push: float = 3.0


def finding_in_words(finding: Finding) -> str:
    """Return a finding in words, with its place, because a rule can be violated at several places."""
    return f"{finding.rule} {finding.seen}{f' at {finding.pointer}' if finding.pointer else ''}"


def path_of(url: str) -> str:
    """Return the path of a URL, or the URL itself if it is not valid."""
    try:
        return urlsplit(url).path or "/"
    except ValueError:
        return url


def fetch_in_words(fetch: CardFetch) -> str:
    """Return the outcome of fetching a card."""
    if fetch.head is None:
        return fetch.fault.seen if fetch.fault else "no response"
    response = f"{fetch.head.status} {fetch.content_type or 'without Content-Type'}"
    if fetch.found == str(fetch.head.status):
        return response
    return f"{response}: {'a card' if isinstance(fetch.found, FoundCard) else fetch.found}"
