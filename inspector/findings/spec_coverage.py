"""What the 1.0 specification demands in sections 3, 4, 9, 10 and 11, and which rule asks whether an agent does it.

Every sentence there with MUST, MUST NOT, SHALL or REQUIRED is here in our words, those of the messages in
`specification/a2a.proto` with it, which the sections quote. What has no rule says why: because it binds the client, or
because nothing that crosses the wire shows it. Source: the tags v1.0.0 and v1.0.1 of the specification.
"""

from __future__ import annotations

from typing import NamedTuple


class Demand(NamedTuple):
    """One demand: its section, what it asks for, the rules that ask whether it is met, and why none or not all do."""

    section: str
    words: str
    rules: tuple[str, ...] = ()
    why: str = ""


_CLIENT = "It binds the client."
_INSIDE = "What an agent does inside is not seen; its answers are judged."
_KNOWN_TO_AGENT = "Only the agent knows what there is and who may see it."
_ELSEWHERE = "It takes other clients, or other credentials, to see it."
_OVER_TIME = "One exchange does not show it, and asking again would change what is observed."
_UNTIMED = "No time is given; the record shows how long it took."

DEMANDS: tuple[Demand, ...] = (
    Demand("3.1.1", "A send is answered with a task or a message", ("DATA-004", "DATA-005", "RPC-003", "HTTP-005")),
    Demand("3.1.1", "A send is answered immediately", (), "Section 3.2.2 lets it wait, unless told otherwise."),
    Demand("3.1.2", "The answer to a streaming send is a stream", ("RPC-004", "HTTP-006")),
    Demand("3.1.2", "A stream with a message has nothing else in it, and closes", ("STREAM-010",)),
    Demand("3.1.2", "A stream about a task begins with the task", ("STREAM-011", "STREAM-013")),
    Demand(
        "3.1.2",
        "A stream closes when its task reaches a terminal state, and not before the task rests",
        ("STREAM-001", "STREAM-003", "STREAM-008", "STREAM-022"),
    ),
    Demand("3.1.2", "Feedback on progress is immediate", (), _UNTIMED),
    Demand("3.1.4", "Without includeArtifacts, listed tasks have no member artifacts", ("RESULT-004",)),
    Demand("3.1.4", "nextPageToken is always there, empty on the last page; so are the other members", ("DATA-001",)),
    Demand(
        "3.1.4",
        "No more tasks on a page than were asked for, and none that the filter leaves out",
        ("RESULT-003", "RESULT-005"),
    ),
    Demand("3.1.4", "Tasks are sorted by the time of their status, the newest first", ("RESULT-006",)),
    Demand("3.1.4", "Only tasks that the client may see are listed, scoped by authorization", (), _KNOWN_TO_AGENT),
    Demand("3.1.4", "Pages are found by cursors", (), "A page token is opaque to the client."),
    Demand("3.1.6", "A subscription begins with the task as it is", ("STREAM-013",)),
    Demand("3.1.6", "A subscription ends with the task", ("STREAM-003", "STREAM-022")),
    Demand("3.1.7", "A push configuration that was made is kept until the task ends or it is deleted", (), _OVER_TIME),
    Demand(
        "3.1.7",
        "A webhook is established for the task that was named",
        ("RESULT-007", "PUSH-002"),
        "Whether an agent posts at all, the webhook place shows.",
    ),
    Demand("3.1.8", "The details of a push configuration come with its url", ("DATA-001", "RESULT-007")),
    Demand("3.1.8", "Asking for a push configuration that does not exist fails", ("RESULT-007",)),
    Demand("3.1.9", "All active push configurations of a task are listed", ("RESULT-007",), _KNOWN_TO_AGENT),
    Demand(
        "3.1.10", "A deleted push configuration is gone for good, and deleting it again does no harm", (), _OVER_TIME
    ),
    Demand("3.1.11", "The extended card is asked for with one of the declared schemes", (), _CLIENT),
    Demand("3.2.2", "A send that waits is answered when the task is at rest", ("RESULT-001",)),
    Demand(
        "3.2.2", "The answer holds all artifacts", (), "Only the agent knows; the reconciler compares it with GetTask."
    ),
    Demand("3.2.2", "A send with returnImmediately is answered at once", (), _UNTIMED),
    Demand(
        "3.2.3",
        "An event holds exactly one of task, message, statusUpdate and artifactUpdate",
        ("DATA-004", "DATA-005", "STREAM-007"),
    ),
    Demand("3.2.4", "No more history than was asked for", ("RESULT-002",)),
    Demand("3.2.6", "A custom binding says how service parameters travel", (), "It binds the author of a binding."),
    Demand(
        "3.3.2",
        "Errors are the right ones",
        ("HTTP-003", "HTTP-004", "HTTP-007", "GRPC-001", "ERROR-004", "ERROR-006", "RESULT-008"),
    ),
    Demand(
        "3.3.2", "Requests without valid credentials are refused", (), "We do not try what we were not told to try."
    ),
    Demand("3.3.2", "Missing permissions are an authorization error, and no resource is revealed", (), _ELSEWHERE),
    Demand("3.3.2", "Parameters are validated before they are used", (), _INSIDE),
    Demand("3.3.2", "What does not exist is not found", ("STREAM-006",), "Only the agent knows what exists."),
    Demand("3.3.2", "A call is answered with what was asked for, or with an error", ("RPC-002", "STREAM-024")),
    Demand("3.3.2", "An error has a code and a message", ("ERROR-001", "RPC-002", "HTTP-003", "HTTP-005")),
    Demand("3.3.2", "Each of the details of an error has a @type", ("ERROR-002",)),
    Demand("3.3.2", "A binding writes errors in its own way", ("RPC-002", "HTTP-005", "GRPC-001")),
    Demand(
        "3.3.4",
        "What the card does not declare is refused with the error for it",
        ("ERROR-004", "ERROR-006"),
        "What was done without being declared is marked among the card's capabilities.",
    ),
    Demand("3.3.4", "A client that does not know a required extension is refused", (), "An agent may never need it."),
    Demand("3.4.1", "A contextId that the agent makes is in its response", ("STREAM-023",)),
    Demand(
        "3.4.1", "A contextId that the agent cannot accept is refused, and none is put in its place", ("STREAM-017",)
    ),
    Demand(
        "3.4.2", "Each new task has an id of its own", (), "An agent may take a message as one about an older task."
    ),
    Demand("3.4.2", "The id is in the task that is returned", ("DATA-001", "DATA-016")),
    Demand("3.4.2", "A client names only tasks that exist", (), _CLIENT),
    Demand(
        "3.4.2",
        "A taskId that does not exist is a TaskNotFoundError",
        ("STREAM-006",),
        "Only the agent knows which exist.",
    ),
    Demand("3.4.3", "A message with a taskId alone is in the context of that task", ("STREAM-006",)),
    Demand("3.4.3", "A contextId that is not that of the task is refused", ("STREAM-006", "STREAM-017")),
    Demand("3.5.2", "Events come in the order in which they were made", ("STREAM-002", "STREAM-018")),
    Demand(
        "3.5.2",
        "Every active stream of a task gets every event, in the same order",
        ("STREAM-019",),
        "The reconciler names what a stream lacks.",
    ),
    Demand(
        "3.5.2", "Closing one stream does not end another", ("STREAM-008",), "What made a stream break off is not seen."
    ),
    Demand("3.6", "Patch numbers play no part in choosing a version", ("CARD-052",), _INSIDE),
    Demand("3.6.1", "Clients send A2A-Version", (), _CLIENT),
    Demand("3.6.2", "Requests are taken as the version that they name", ("DATA-006",)),
    Demand(
        "3.6.2",
        "A version that is not spoken is a VersionNotSupportedError",
        (),
        "We ask only for versions that the card declares.",
    ),
    Demand("3.6.2", "Without a version, 0.3 is meant", (), "We always name the version."),
    Demand("3.6.3", "Libraries help their users with versions", (), _CLIENT),
    Demand("3.7", "Nobody relies on messages, or on history, for what is critical", (), _CLIENT),
    Demand("4", "Every binding has the same data", ("DATA-001", "DATA-002"), "Which data, only the agent knows."),
    Demand("4.1.1", "A task has id and status", ("DATA-001", "DATA-002", "DATA-016")),
    Demand("4.1.2", "A status has a state", ("DATA-001", "DATA-002")),
    Demand("4.1.3", "A state is one of TaskState", ("STREAM-009",)),
    Demand("4.1.4", "A message has messageId, role and parts", ("DATA-001", "DATA-002", "DATA-016", "DATA-017")),
    Demand(
        "4.1.4",
        "A message of the agent names its context, and its task if there is one",
        ("DATA-022",),
        "In lower case there, and left out by the examples of section 6; only ids that contradict are named.",
    ),
    Demand("4.1.5", "A role is one of Role", ("DATA-003", "DATA-019")),
    Demand("4.1.6", "A part is exactly one of text, raw, url and data", ("DATA-004", "DATA-005", "DATA-010")),
    Demand(
        "4.1.7", "An artifact has artifactId and parts, one at least", ("DATA-001", "DATA-002", "DATA-016", "DATA-017")
    ),
    Demand("4.1.7", "No two artifacts of a task have the same id", ("DATA-020",)),
    Demand("4.2.1", "A status update has taskId, contextId and status", ("DATA-001", "DATA-002", "DATA-016")),
    Demand("4.2.2", "An artifact update has taskId, contextId and artifact", ("DATA-001", "DATA-002", "DATA-016")),
    Demand("4.3.1", "A push configuration has a url", ("DATA-001", "DATA-002")),
    Demand("4.3.2", "The authentication of a webhook has a scheme", ("DATA-001", "DATA-002")),
    Demand("4.3.3", "A push carries the credentials that its configuration gives", ("PUSH-001", "PUSH-004")),
    Demand("4.3.3", "A push is one StreamResponse", ("PUSH-003", "PUSH-006", "DATA-004", "DATA-005")),
    Demand("4.3.3", "A client answers a push with 2xx, and checks its task", ("PUSH-002",), _CLIENT),
    Demand(
        "4.3.3",
        "Each push is tried at least once",
        (),
        "One that never came left nothing; the reconciler names what is missing.",
    ),
    Demand("4.4.1", "A card has its required members", ("CARD-001", "CARD-002")),
    Demand("4.4.2", "A provider has organization and url", ("CARD-014", "CARD-015")),
    Demand("4.4.5", "A skill has id, name, description and tags", ("CARD-012", "CARD-013")),
    Demand("4.4.6", "An interface has url, protocolBinding and protocolVersion", ("CARD-010", "CARD-011")),
    Demand("4.4.6", "Clients send the tenant of an interface", (), _CLIENT),
    Demand("4.4.7", "A signature has protected and signature", ("CARD-022", "CARD-023")),
    Demand(
        "4.5.1",
        "A security scheme is of one kind, and has the members of that",
        ("CARD-018", "CARD-019", "CARD-070", "CARD-071"),
    ),
    Demand(
        "4.5.7",
        "OAuth 2.0 has one flow, with the addresses and scopes of that",
        ("CARD-020", "CARD-021", "CARD-077", "CARD-078"),
    ),
    Demand("4.5.7", "The addresses of a flow are urls", ("CARD-076",)),
    Demand("4.6.3", "An extension that breaks with its past has a new URI", (), "It binds the author of an extension."),
    Demand(
        "4.6.3",
        "A required extension in a version that the agent does not support is refused",
        (),
        "We do not ask for what the card does not declare.",
    ),
    Demand(
        "4.6.3",
        "An agent does not fall back to an older version of an extension",
        (),
        "Two URIs do not say that they are versions of one.",
    ),
    Demand("9.1", "JSON-RPC 2.0, as application/json, streams as text/event-stream", ("RPC-001", "RPC-002", "RPC-005")),
    Demand("9.2", "Service parameters are HTTP headers", (), _CLIENT),
    Demand("9.3", "Requests are those of JSON-RPC 2.0", (), _CLIENT),
    Demand("9.4.2", "The answer to a streaming call is text/event-stream", ("RPC-004",)),
    Demand("9.5", "Each object in data has a @type", ("ERROR-002",)),
    Demand(
        "9.5",
        "1.0.0: the errors of A2A hold an ErrorInfo with their reason and domain",
        ("ERROR-003", "ERROR-004", "ERROR-005"),
    ),
    Demand("10.2", "Service parameters are gRPC metadata", (), _CLIENT),
    Demand("10.2", "Service parameters are taken from the metadata", (), _INSIDE),
    Demand("10.6", "The errors of A2A hold an ErrorInfo in the details of their status", ("GRPC-001", "GRPC-002")),
    Demand("11.2", "Service parameters are HTTP headers", (), _CLIENT),
    Demand(
        "11.5",
        "GET and DELETE have their parameters, in camelCase, in path and query, encoded as RFC 3986 says",
        (),
        _CLIENT,
    ),
    Demand("11.6", "Each object in details has a @type", ("ERROR-002",)),
    Demand(
        "11.6",
        "The errors of A2A hold an ErrorInfo with their reason and domain",
        ("HTTP-002", "ERROR-004", "ERROR-005"),
    ),
    Demand("11.7", "The answer to a streaming call is text/event-stream", ("HTTP-006",)),
)
"""In the order of the specification."""
