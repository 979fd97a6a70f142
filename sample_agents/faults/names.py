"""Every fault by its name."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from . import answers, documents, events, pushes, transport
from .fault import Fault, Spoiler

FAULTS: Mapping[str, Fault] = {
    fault.name: fault
    for room in (answers, transport, events, documents, pushes)
    for book in room.BOOKS
    for fault in book.faults
}


class UnknownFaultError(ValueError):
    """Raised where something is called for that is no fault."""


def named(words: str) -> Spoiler:
    """Return the fault that is called for as `name` or `name:number`; raises UnknownFaultError."""
    name, colon, text = words.strip().partition(":")
    fault = FAULTS.get(name)
    if fault is None:
        near = get_close_matches(name, FAULTS, 1)
        raise UnknownFaultError(f"There is no fault {name!r}{f': is it {near[0]}?' if near else '.'}")
    if not colon:
        return Spoiler(fault, fault.usual)
    if not fault.number:
        raise UnknownFaultError(f"The fault {name} takes no number.")
    if not text.replace(".", "", 1).isdecimal() or len(text) > 9:
        raise UnknownFaultError(f"The fault {name} takes a number behind its colon: {fault.number}.")
    return Spoiler(fault, float(text))
