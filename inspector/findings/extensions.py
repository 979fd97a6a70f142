"""Rules about the activation of extensions (1.0 sections 3.2.6 and 4.6), and about their data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from inspector.findings.examples import TEXT_PART, answer, message
from inspector.findings.rule_set import HINT, SINCE_0_2, WARNING, Rule, RuleSet, Violation
from inspector.protocol.circumstances import Circumstances
from inspector.protocol.model import Json

if TYPE_CHECKING:
    from inspector.protocol.extensions.known import Use

_LONGEST = 200
_URI = "https://a.example/ext"
_TIMESTAMP = "https://github.com/a2aproject/a2a-samples/samples/extensions/timestamp/v1"
_DECLARED: Json = {"capabilities": {"extensions": [{"uri": _URI}, {"uri": _TIMESTAMP}]}}
_DATA = {f"{_TIMESTAMP.removeprefix('https://')}/timestamp": "2026-01-31T12:00:00Z"}


class Activation(NamedTuple):
    """The extensions that a response activates, with the circumstances of its request."""

    version: str
    activated: frozenset[str]
    circumstances: Circumstances


class DataFacts(NamedTuple):
    """The place of the data of a known extension that is not active, its name, and whether it was requested."""

    version: str
    pointer: str
    name: str
    requested: bool


RULES: list[Rule] = []
ACTIVATION, DATA = RuleSet[Activation](RULES, SINCE_0_2), RuleSet[DataFacts](RULES, SINCE_0_2)


def _activates(uri: str, **more: Json) -> Json:
    return answer(message(TEXT_PART), card=_DECLARED, responseHeaders={"A2A-Extensions": uri}, **more)


@ACTIVATION.rule(
    "RESULT-016",
    WARNING,
    "The agent activated an extension that its card does not declare",
    section="1.0 §4.4.4, §4.6",
    requirement="An agent declares the extensions that it supports in capabilities.extensions of its card.",
    remedy="Add the extension to the card, or do not activate it.",
    passing=_activates(_URI, headers={"A2A-Extensions": _URI}),
    failing=_activates("urn:undeclared", headers={"A2A-Extensions": "urn:undeclared"}),
)
def not_declared(facts: Activation) -> Iterator[Violation]:
    card = facts.circumstances.card
    if card is not None:
        declared = {extension.uri for extension in card.capabilities.extensions or ()}
        for uri in sorted(facts.activated - declared):
            yield Violation("", f"the response activates {uri[:_LONGEST]}")


@ACTIVATION.rule(
    "RESULT-017",
    WARNING,
    "The agent activated an extension that was not requested",
    section="1.0 §3.2.6, §4.6",
    requirement="Extensions are inactive by default: a client activates them for a request with the extensions header.",
    remedy="Activate only extensions that the request names; clients that do not know them expect the basic protocol.",
    passing=_activates(_URI, headers={"A2A-Extensions": _URI}),
    failing=_activates(_URI),
)
def not_requested(facts: Activation) -> Iterator[Violation]:
    for uri in sorted(facts.activated - facts.circumstances.extensions):
        yield Violation("", f"the response activates {uri[:_LONGEST]}")


@DATA.rule(
    "RESULT-018",
    HINT,
    "The response contains data of an extension that is not active",
    section="1.0 §3.2.6, §4.6",
    requirement="An agent uses an extension if the request activates it, and names it in the header of the response.",
    remedy="Send the data only if the extension is active, and list the active extensions in the response header.",
    passing=answer(
        message(TEXT_PART, metadata=_DATA),
        card=_DECLARED,
        headers={"A2A-Extensions": _TIMESTAMP},
        responseHeaders={"A2A-Extensions": _TIMESTAMP},
    ),
    failing=answer(message(TEXT_PART, metadata=_DATA), card=_DECLARED),
)
def not_active(facts: DataFacts) -> Iterator[Violation]:
    why = "it was requested, but the response does not activate it" if facts.requested else "it was not requested"
    yield Violation(facts.pointer, f"data of {facts.name}: {why}")


def inactive_data(
    version: str, uses: Sequence[Use], activated: frozenset[str], circumstances: Circumstances
) -> Iterator[DataFacts]:
    """Return the first data of each known extension in a payload that the response does not activate."""
    from inspector.protocol.extensions.known import known  # noqa: PLC0415 - few agents use extensions

    active, requested = ({known(uri) for uri in uris} for uris in (activated, circumstances.extensions))
    seen = set()
    for use in uses:
        if use.extension not in active and use.extension not in seen:
            seen.add(use.extension)
            yield DataFacts(version, use.pointer, use.extension.name, use.extension in requested)
