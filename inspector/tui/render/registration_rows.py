"""The rows of the webhook registrations: those of this session, and others that the agent reported."""

from __future__ import annotations

from inspector.capture.redaction import Redactor
from inspector.protocol.model import PushConfig
from inspector.session.push.webhook_registration import WebhookRegistration, WebhookRegistrations
from inspector.text.short_id import short_id
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import Cell, Cells


class RegistrationRows:
    """A row for each registration, the newest first, and then for each other webhook that the agent reported."""

    def __init__(self, registrations: WebhookRegistrations, redactor: Redactor, glyphs: Glyphs) -> None:
        self._registrations = registrations
        self._redactor = redactor
        self._glyphs = glyphs
        self.items: list[WebhookRegistration | tuple[str, PushConfig]] = []

    def refresh(self) -> None:
        """Read the registrations anew."""
        others = [(task_id, config) for task_id, configs in self._registrations.others.items() for config in configs]
        self.items = [*reversed(self._registrations), *others]

    def __len__(self) -> int:
        return len(self.items)

    def row(self, index: int) -> Cells:
        """Return the cells of a row: number, task, counts of deliveries, expected authentication, state."""
        item = self.items[index]
        return self._own(item) if isinstance(item, WebhookRegistration) else self._other(*item)

    def _own(self, webhook: WebhookRegistration) -> Cells:
        return (
            (str(webhook.registration.number), "feed--muted"),
            (short_id(webhook.task_id) or "none yet", "feed--text" if webhook.task_id else "feed--quiet"),
            (f"{webhook.accepted:,}", "feed--good" if webhook.accepted else "feed--muted"),
            (f"{webhook.refused:,}", "feed--bad" if webhook.refused else "feed--muted"),
            (f"{webhook.failing:,}", "feed--warning" if webhook.failing else "feed--muted"),
            (webhook.registration.auth.words, "feed--text"),
            self._state(webhook),
        )

    def _state(self, webhook: WebhookRegistration) -> Cell:
        """Return the problem of a registration, or whether the agent has stored it."""
        glyphs = self._glyphs
        if webhook.failed:
            return f"{glyphs.cross} registration failed: {webhook.failed}", "feed--bad"
        if webhook.problem:
            return f"{glyphs.cross} {webhook.problem}", "feed--warning"
        if webhook.refused and not webhook.accepted and not webhook.failing:
            return f"{glyphs.cross} every delivery was rejected", "feed--bad"
        if webhook.stored:
            return f"{glyphs.check} stored by the agent", "feed--good"
        return ("in use", "feed--good") if webhook.received else ("no delivery yet", "feed--muted")

    def _other(self, task_id: str, config: PushConfig) -> Cells:
        scheme = config.authentication.scheme if config.authentication else ""
        expected = ", ".join(filter(None, ("token" if config.token else "", scheme))) or "nothing"
        return (
            ("-", "feed--muted"),
            (short_id(task_id), "feed--text"),
            ("", "feed--muted"),
            ("", "feed--muted"),
            ("", "feed--muted"),
            (expected, "feed--muted"),
            (f"not of this session: {self._redactor.url(config.url)}", "feed--muted"),
        )
