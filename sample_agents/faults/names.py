"""Find faults by name and parse `name:number`."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from . import authorization, documents, events, pushes, responses, transport
from .fault import ActiveFault, Fault

FAULTS: Mapping[str, Fault] = {
    fault.name: fault
    for module in (responses, transport, events, documents, pushes, authorization)
    for registry in module.REGISTRIES
    for fault in registry.faults
}


class UnknownFaultError(ValueError):
    """Raised for an unknown fault or an invalid number."""


def parse_fault(text: str) -> ActiveFault:
    """Parse `name` or `name:number`; raises `UnknownFaultError`."""
    name, colon, number = text.strip().partition(":")
    fault = FAULTS.get(name)
    if fault is None:
        near = get_close_matches(name, FAULTS, 1)
        raise UnknownFaultError(f"Unknown fault {name!r}.{f' Did you mean {near[0]!r}?' if near else ''}")
    if not colon:
        return ActiveFault(fault, fault.default)
    if not fault.number:
        raise UnknownFaultError(f"The fault {name} has no number; remove {colon}{number}.")
    if not number.replace(".", "", 1).isdecimal() or len(number) > 9:
        example = f"{name}:{fault.default:g}"
        raise UnknownFaultError(f"The fault {name} needs a number after the colon ({fault.number}): {example}.")
    return ActiveFault(fault, float(number))
