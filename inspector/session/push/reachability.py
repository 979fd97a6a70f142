"""Whether an agent can reach the receiver, as far as the two addresses tell."""

from __future__ import annotations

from typing import NamedTuple

from inspector.wire.reach import Nearness, nearness, place_of


class Reachable(NamedTuple):
    """Whether an agent can reach a url, None where only a delivery can tell, and why in words."""

    good: bool | None
    words: str


_MEANS = {
    Nearness.MACHINE: "this machine alone",
    Nearness.NETWORK: "this network alone",
    Nearness.WILDCARD: "nobody in particular",
}


def reachable(advertised: str, agent_url: str, *, came: bool) -> Reachable:
    """Say whether the agent at `agent_url` (`""`: none is known) can reach what is advertised; `came` settles it."""
    if came:
        return Reachable(True, "yes: deliveries came")
    ours, theirs = place_of(advertised), place_of(agent_url)
    if ours is None:
        return Reachable(False, "no: the advertised url names no host")
    near = nearness(ours.host)
    if near is Nearness.WILDCARD:
        return Reachable(False, f"no: {ours.host} is where a server listens, not where it is reached")
    if near is Nearness.PUBLIC:
        return Reachable(None, "not known until a delivery comes")
    if theirs is None:
        return Reachable(None, f"from {_MEANS[near]}")
    if nearness(theirs.host) is Nearness.MACHINE:
        return Reachable(True, "yes: the agent is on this machine")
    if near is Nearness.MACHINE or nearness(theirs.host) is Nearness.PUBLIC:
        return Reachable(False, f"no: it means {_MEANS[near]}, and the agent is at {theirs.host}")
    return Reachable(None, "perhaps: both are in a private network")
