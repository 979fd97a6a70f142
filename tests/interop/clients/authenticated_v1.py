"""Call the mock agent with credentials by the official client of SDK 1.x, and print the result as JSON.

`authenticated_v1.py URL BINDING SCHEME CREDENTIAL`: the client sends the credential as the card defines for the scheme.
"""

from __future__ import annotations

import asyncio
import json
import sys

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientCallContext, ClientConfig, ClientFactory
from a2a.client.auth.credentials import CredentialService
from a2a.client.auth.interceptor import AuthInterceptor
from a2a.client.errors import A2AClientError
from a2a.helpers import get_message_text, new_text_message
from a2a.types import Role, SendMessageRequest


class OneCredential(CredentialService):
    """The credential of one scheme."""

    def __init__(self, scheme: str, credential: str) -> None:
        self._scheme = scheme
        self._credential = credential

    async def get_credentials(self, security_scheme_name: str, context: ClientCallContext | None) -> str | None:
        return self._credential if security_scheme_name == self._scheme else None


async def main(url: str, binding: str, scheme: str, credential: str) -> dict[str, str]:
    async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        config = ClientConfig(
            streaming=False,
            httpx_client=http,
            supported_protocol_bindings=[binding],
            grpc_channel_factory=grpc.aio.insecure_channel,
        )
        interceptors = [AuthInterceptor(OneCredential(scheme, credential))]
        client = ClientFactory(config).create(card, interceptors=interceptors)
        request = SendMessageRequest(message=new_text_message("echo hello", role=Role.ROLE_USER))
        try:
            events = [event async for event in client.send_message(request)]
        except A2AClientError as error:
            return {"error": str(error)}
        return {"message": get_message_text(events[-1].message)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
