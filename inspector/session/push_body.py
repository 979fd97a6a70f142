"""The two forms of the request that creates a push configuration in A2A 0.3 over HTTP+JSON."""

from __future__ import annotations


def push_body_hint(*, whole: bool) -> str:
    """Explain why an agent may have refused one of the two forms; `whole` is whether the whole request was sent."""
    sent, other = "the push configuration", "the whole request (parent, configId, config), as SDKs for Python expect"
    if whole:
        sent, other = "the whole request", "the push configuration only, as the proto defines and SDKs for JS expect"
    return f"The body of this request was {sent}. The agent may expect {other}."
