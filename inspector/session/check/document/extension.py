"""Our additions to a test or a step: the members of `x-a2a-inspect`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from inspector.session.check.document.node import Expected, Node


class ArtifactExpectation(Node):
    """An assertion about an artifact of the task, assembled from its chunks.

    `name` selects the artifact by its name or id; by default the first artifact is checked. `text` is an assertion
    about the text of all parts, `data` one about the first data part, `sha256` the digest of the content.
    """

    name: str = ""
    text: Expected = None
    data: Expected = None
    sha256: str = ""
    media_type: Expected = None


class StepExtension(Node):
    """Our additions to a step: assembled artifacts, headers, and the times of the response in milliseconds."""

    artifacts: list[ArtifactExpectation] = []
    first_event_ms: int | None = Field(default=None, gt=0)
    gap_ms: int | None = Field(default=None, gt=0)
    total_ms: int | None = Field(default=None, gt=0)
    headers: dict[str, Expected] | None = None


class FindingsExpectation(Node):
    """Which findings a test may have: none above the severity `max`, except those of the rules in `allow`."""

    max: Literal["none", "hint", "warning", "error"] = "warning"
    allow: list[str] = []


class PushExpectation(Node):
    """The pushes that the webhook has to receive until `timeout_ms` after the last step.

    `count` is an assertion about their number; an upper limit is tested until the end of this time. `states` are the
    task states in their order, `valid` is whether the receiver has to accept all of them, and their payloads have to be
    valid.
    """

    count: Expected = Field(default_factory=lambda: {"gte": 1})
    states: list[str] | None = None
    valid: bool = True
    timeout_ms: int = Field(default=5000, gt=0)


class TestExtension(Node):
    """Our additions to a test; `p50_ms` and `p95_ms` limit the percentiles of its time over all trials."""

    findings: FindingsExpectation | None = None
    pushes: PushExpectation | None = None
    no_secrets: bool = False
    total_ms: int | None = Field(default=None, gt=0)
    p50_ms: int | None = Field(default=None, gt=0)
    p95_ms: int | None = Field(default=None, gt=0)
