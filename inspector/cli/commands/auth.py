"""The subcommands of `auth`: `login`, `status`, `logout` and `token`."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser

FLOWS = ("authorizationCode", "deviceCode", "clientCredentials")
STORES = ("keyring", "file", "none")

_LOGIN_EXAMPLES = """\
# Log in with a browser
a2a-inspect auth login -a https://agent.example --client-id my-client
# Log in on another device, for a machine without a browser
a2a-inspect auth login -a https://agent.example --client-id my-client --device
# Log in as the client itself, with a secret from the environment
a2a-inspect auth login -a https://agent.example --client-id my-client --client-secret env:CLIENT_SECRET"""

_STATUS_EXAMPLES = """\
# List all stored tokens
a2a-inspect auth status
# Print what an agent requires, and whether the stored credentials meet it
a2a-inspect auth status -a https://agent.example"""

_LOGOUT_EXAMPLES = """\
# Revoke and remove the tokens for an agent
a2a-inspect auth logout -a https://agent.example
# Revoke and remove all tokens
a2a-inspect auth logout --all"""

_PRINT_EXAMPLES = """\
# Print the token, and renew it before if it expires soon
a2a-inspect auth token -a https://agent.example
# Use the token in another program
curl -H "Authorization: Bearer $(a2a-inspect auth token -a https://agent.example)" https://agent.example/"""


def _add_login(parser: Parser) -> None:
    parser.add_agent(as_argument=True)
    parser.value("--scheme NAME", "log in with this security scheme of the card (default: the first that is possible)")
    parser.value("--flow FLOW", f"log in with this flow: {', '.join(FLOWS)}", choices=FLOWS)
    parser.switch("--device", "the same as --flow deviceCode")
    parser.value("--client-id ID", "the id of the client at the authorization server", values.identifier)
    parser.value(
        "--client-secret env:NAME",
        "the secret of the client, in an environment variable of this name",
        values.secret_reference,
    )
    parser.value(
        "--scope SCOPE",
        "ask for this scope; repeatable (default: what the card requires)",
        values.identifier,
        split=str.split,
        dest="scopes",
    )
    parser.value("--redirect-port PORT", "receive the redirect of the browser on this port", values.port)
    parser.switch("--no-browser", "print the URL of the login, but do not open it")
    parser.value(
        "--store PLACE",
        "where to store the token: keyring, file (readable by you only) or none (default: keyring)",
        choices=STORES,
    )
    parser.add_findings()
    parser.add_output()
    parser.add_connection()


def _add_status(parser: Parser) -> None:
    parser.add_agent(as_argument=True, default=False)
    parser.add_output()
    parser.add_connection()


def _add_logout(parser: Parser) -> None:
    parser.add_agent(as_argument=True, default=False)
    parser.switch("--all", "log out from all agents")
    parser.add_output()
    parser.add_connection()


def _add_token(parser: Parser) -> None:
    parser.add_agent(as_argument=True)
    parser.add_output()
    parser.add_connection()


LOGIN = Handler(_add_login, Deferred("inspector.cli.auth:log_in"), _LOGIN_EXAMPLES)
STATUS = Handler(_add_status, Deferred("inspector.cli.auth:status"), _STATUS_EXAMPLES)
LOGOUT = Handler(_add_logout, Deferred("inspector.cli.auth:log_out"), _LOGOUT_EXAMPLES)
TOKEN = Handler(_add_token, Deferred("inspector.cli.auth:token"), _PRINT_EXAMPLES)
