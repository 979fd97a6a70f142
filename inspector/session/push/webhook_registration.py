"""Registrations of webhooks, with what the session knows of their state."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import Fault
from inspector.protocol.model import (
    AuthenticationInfo,
    Deleted,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    Request,
)
from inspector.wire.receiver.registration import Proof, Registration


@dataclass(slots=True)
class WebhookRegistration:
    """A registration with its task, `""` until the agent has named it, and the counts of its deliveries.

    `version` is the protocol version of the registration, `config_id` its id at the agent. `stored` says whether the
    agent has it, None if unknown; `failed` why the registration failed, `""` if it did not. `failing` counts the
    deliveries that got the response of an override.
    """

    registration: Registration
    task_id: str = ""
    version: str = ""
    config_id: str = ""
    stored: bool | None = None
    failed: str = ""
    deleted: bool = False
    accepted: int = 0
    refused: int = 0
    failing: int = 0

    @property
    def config(self) -> PushConfig:
        """Return the configuration for the agent; it always has the token, because some SDKs send only that back."""
        registration, auth = self.registration, self.registration.auth
        config = PushConfig(url=registration.url, token=registration.token)
        if auth.proof is Proof.TOKEN:
            return config
        members = {"credentials": registration.credentials} if registration.credentials else {}
        return config.model_copy(update={"authentication": AuthenticationInfo(scheme=auth.scheme, **members)})

    @property
    def live(self) -> bool:
        """Return whether deliveries may be expected."""
        return not (self.deleted or self.failed or self.stored is False)

    @property
    def came(self) -> int:
        """Return how many deliveries came, accepted or not."""
        return self.accepted + self.refused + self.failing

    @property
    def standing(self) -> str:
        """Name the problem of the registration, `""` for none."""
        if self.deleted:
            return "deleted"
        if self.failed:
            return "never registered"
        return "not stored" if self.stored is False else ""


class WebhookRegistrations(list[WebhookRegistration]):
    """The registrations of a session, in the order in which they were made."""

    def of_task(self, task_id: str) -> list[WebhookRegistration]:
        """Return the registrations for a task."""
        return [hook for hook in self if hook.task_id == task_id] if task_id else []

    def of(self, registration: Registration | None) -> WebhookRegistration | None:
        """Return the registration at an address of the receiver."""
        for hook in reversed(self):  # the newest get most deliveries
            if hook.registration is registration:
                return hook
        return None

    def learn(
        self, request: Request, answer: Answer | None, fault: Fault | None, hook: WebhookRegistration | None, task: str
    ) -> None:
        """Note what a call showed about registrations; `hook` went with a message, which created `task`."""
        match request:
            case PushConfig():
                self._set(request, answer, fault)
            case PushConfigRequest() if fault is None:
                self._learn_stored(request, answer)
        if hook is not None:
            hook.task_id = task or hook.task_id
            hook.failed = fault.seen if fault is not None and not task else ""

    def _set(self, request: PushConfig, answer: Answer | None, fault: Fault | None) -> None:
        hook = next((hook for hook in self if hook.registration.url == request.url), None)
        if hook is None:
            return
        hook.task_id = request.task_id or hook.task_id
        hook.failed = fault.seen if fault is not None else ""
        if isinstance(answer, PushConfig):
            hook.stored, hook.config_id = True, answer.id or hook.config_id

    def _learn_stored(self, request: PushConfigRequest, answer: Answer | None) -> None:
        mine = [hook for hook in self.of_task(request.task_id) if not hook.failed]
        match answer:
            case Deleted():
                for hook in mine:
                    # Before 1.0 the id of the only configuration of a task is the id of the task.
                    hook.deleted |= request.id in (hook.config_id, hook.task_id)
            case PushConfigList():
                known = {config.url: config.id for config in answer.configs}
                for hook in mine:
                    hook.stored = hook.registration.url in known
                    hook.config_id = known.get(hook.registration.url) or hook.config_id
            case PushConfig():
                for hook in mine:
                    if hook.registration.url == answer.url:
                        hook.stored, hook.config_id = True, answer.id or hook.config_id
            case _:
                pass
