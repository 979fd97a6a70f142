"""Keys that Textual reads in another way than most terminals mean them."""

from __future__ import annotations

from typing import cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS


def read_alt_with_digits() -> None:
    """Let alt with a digit be just that, so that it can be bound while a text is written.

    Most terminals send it as escape and the digit, which Textual takes for the sign that some Macs type with the two.
    """
    sequences = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    for digit in range(10):
        sequences.pop(f"\x1b{digit}", None)
