"""Every module that declares rules about streams: the judge of an exchange and the table of all rules need them."""

from inspector.findings.stream import ending, frames, ids, order

__all__ = ["ending", "frames", "ids", "order"]
