"""Webhook registrations with their state: task, configuration at the agent, and counts of deliveries."""

from __future__ import annotations

from inspector.lazy_dataclass import dataclass
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


@dataclass(slots=True, eq=False)  # each is compared with many others
class WebhookRegistration:
    """A registration with its task (`""` until the agent has named the task) and the counts of its deliveries.

    `version` is the protocol version of the registration, `config_id` its id at the agent. `elsewhere` is whether
    another program sends its configuration to the agent: for any number of tasks, and with or without `Authorization`.
    `for_new_task` is whether it was made before its task existed, to be sent with a message.
    `stored` is whether the agent has stored it, None if unknown; `failed` is why the registration failed, `""` if it
    did not. `failing` counts the deliveries that were answered with an override.
    """

    registration: Registration
    task_id: str = ""
    version: str = ""
    elsewhere: bool = False
    for_new_task: bool = False
    config_id: str = ""
    stored: bool | None = None
    failed: str = ""
    deleted: bool = False
    accepted: int = 0
    refused: int = 0
    failing: int = 0

    @property
    def config(self) -> PushConfig:
        """Return the configuration for the agent; it always has a token, because some SDKs send only the token back."""
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
    def requests_authorization(self) -> bool:
        """Return whether the configuration requests `Authorization`, or the user has set its credentials here."""
        auth = self.registration.auth
        return auth.proof is not Proof.TOKEN and (not self.elsewhere or bool(auth.credentials))

    @property
    def received(self) -> int:
        """Return how many deliveries were received, accepted or not."""
        return self.accepted + self.refused + self.failing

    @property
    def problem(self) -> str:
        """Return the problem of the registration in a few words, `""` for none."""
        if self.deleted:
            return "deleted"
        if self.failed:
            return "registration failed"
        return "not stored" if self.stored is False else ""


class WebhookRegistrations(list[WebhookRegistration]):
    """The registrations of a session, in the order in which they were made.

    `others` has the webhooks of each task that the agent reported last and that were not registered by this session.
    """

    def __init__(self) -> None:
        super().__init__()
        self.others: dict[str, tuple[PushConfig, ...]] = {}

    def of_task(self, task_id: str) -> list[WebhookRegistration]:
        """Return the registrations for a task."""
        return [webhook for webhook in self if webhook.task_id == task_id] if task_id else []

    def of(self, registration: Registration | None) -> WebhookRegistration | None:
        """Return the `WebhookRegistration` that contains this registration of the receiver, None if there is none."""
        for webhook in reversed(self):  # the newest get most deliveries
            if webhook.registration is registration:
                return webhook
        return None

    def update(
        self,
        request: Request,
        answer: Answer | None,
        fault: Fault | None,
        webhook: WebhookRegistration | None,
        task_id: str,
    ) -> None:
        """Update registrations after a call; `webhook` was sent with the message of the call, `task_id` is its task."""
        match request:
            case PushConfig():
                self._update_set(request, answer, fault)
            case PushConfigRequest() if fault is None:
                self._update_stored(request, answer)
        if webhook is not None:
            webhook.task_id = task_id or webhook.task_id
            webhook.failed = fault.seen if fault is not None and not task_id else ""

    def _update_set(self, request: PushConfig, answer: Answer | None, fault: Fault | None) -> None:
        webhook = next((webhook for webhook in self if webhook.registration.url == request.url), None)
        if webhook is None:
            return
        webhook.task_id = request.task_id or webhook.task_id
        webhook.failed = fault.seen if fault is not None else ""
        if isinstance(answer, PushConfig):
            webhook.stored, webhook.config_id = True, answer.id or webhook.config_id

    def _update_stored(self, request: PushConfigRequest, answer: Answer | None) -> None:
        registered = [webhook for webhook in self.of_task(request.task_id) if not webhook.failed]
        self._update_others(request, answer)
        match answer:
            case Deleted():
                for webhook in registered:
                    # Before 1.0 the id of the only configuration of a task is the id of the task.
                    webhook.deleted |= request.id == (webhook.config_id or webhook.task_id)
            case PushConfigList():
                known = {config.url: config.id for config in answer.configs}
                for webhook in registered:
                    webhook.stored = webhook.registration.url in known
                    webhook.config_id = known.get(webhook.registration.url) or webhook.config_id
            case PushConfig():
                for webhook in registered:
                    if webhook.registration.url == answer.url:
                        webhook.stored, webhook.config_id = True, answer.id or webhook.config_id
            case _:
                pass

    def _update_others(self, request: PushConfigRequest, answer: Answer | None) -> None:
        own = {webhook.registration.url for webhook in self}
        known = self.others.get(request.task_id, ())
        match answer:
            case Deleted():
                known = tuple(config for config in known if config.id != request.id)
            case PushConfigList():
                known = tuple(config for config in answer.configs if config.url not in own)
            case PushConfig() if answer.url not in own:
                known = (*(config for config in known if config.id != answer.id), answer)
            case _:
                pass
        self.others[request.task_id] = known
