"""`card get --verify`: verify the signatures of a card with different keys."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from aiohttp import web
from joserfc.jwk import ECKey
from joserfc.jws import JWSRegistry
from puppets import Answer, Call, MakeAgent, Puppet, RunCli

RECORDINGS = Path(__file__).parent.parent / "findings" / "recordings"
KEY = ECKey.generate_key("P-256", {"kid": "ours"})
KEYS = {"keys": [KEY.as_dict(private=False)]}


def b64(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(raw).decode().rstrip("=")


def sign(card: dict[str, Any], **header: Any) -> dict[str, Any]:
    protected = b64({"alg": "ES256", "kid": "ours", "typ": "JOSE"} | header)
    message = f"{protected}.{b64(rfc8785.dumps(card))}".encode()
    return {"protected": protected, "signature": b64(JWSRegistry.algorithms["ES256"].sign(message, KEY))}


async def serve_keys(call: Call) -> web.StreamResponse:
    return web.json_response(KEYS)


def signed_agent(make_agent: MakeAgent, answer: Answer = serve_keys, jku: str = "{url}/rpc") -> Puppet:
    """Make an agent with a signed card whose jku is its own RPC path, or another URL."""
    agent = make_agent(answer)
    agent.card = {"signatures": [sign(agent.whole_card(), jku=jku.format(url=agent.url))]}
    return agent


def written(folder: Path, name: str, value: Any) -> str:
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


def recorded(folder: Path, name: str, **changes: Any) -> tuple[str, str]:
    _, _, body = (RECORDINGS / f"card_{name}.txt").read_text("utf-8").partition("\n\n")
    return written(folder, "card.json", json.loads(body) | changes), str(RECORDINGS / f"jwks_{name}.json")


def test_a_card_is_verified_with_the_keys_of_a_file(cli: RunCli, tmp_path: Path):
    card, keys = recorded(tmp_path, "10")
    ran = cli("card", "get", "-a", card, "--keys", keys)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("Signature: valid /signatures/0: Signed with key 'key-1' over the card as served.\n")
    assert cli("card", "get", "-a", card, "--verify", A2ACLI_KEYS=keys).out == ran.out


def test_unsigned_members_are_listed_in_full_with_verbose(cli: RunCli, tmp_path: Path):
    card, keys = recorded(tmp_path, "10c")
    ran = cli("card", "get", "-a", card, "--keys", keys)
    assert ran.code == 0
    assert "over only the members of 1.0, without default values" in ran.out
    assert "\nNot signed: /securitySchemes/bearer/bearerFormat, " in ran.out
    assert ran.out.endswith(" and 14 more\n")
    assert "\n  /preferredTransport\n" in cli("card", "get", "-a", card, "--keys", keys, "--verbose").out


def test_a_card_that_was_changed_fails(cli: RunCli, tmp_path: Path):
    card, keys = recorded(tmp_path, "03", version="9")
    ran = cli("card", "get", "-a", card, "--keys", keys)
    assert ran.code == 1
    assert "\nSignature: wrong /signatures/0: " in ran.out
    assert "Error: No signature of the card is valid. The first: wrong, " in ran.err


def test_verification_results_in_json_are_on_stderr(cli: RunCli, tmp_path: Path):
    card, keys = recorded(tmp_path, "03")
    ran = cli("card", "get", "-a", card, "--keys", keys, "-o", "json")
    assert (ran.code, ran.json) == (0, json.loads(Path(card).read_text("utf-8")))
    verdict = json.loads(ran.err)
    reason = verdict.pop("reason")
    assert verdict == {
        "index": 0,
        "outcome": "valid",
        "pointer": "/signatures/0",
        "algorithm": "ES256",
        "kid": "key-1",
        "jku": "http://127.0.0.1:9911/jwks.json",
        "canonicalForm": "the card as the Python SDK 0.3 writes it",
        "unsignedMembers": ["/securitySchemes/mtls"],
    }
    assert reason.startswith("Signed with key 'key-1'")


def test_verification_without_keys_names_the_options_for_keys(cli: RunCli, tmp_path: Path):
    card, _ = recorded(tmp_path, "10")
    ran = cli("card", "get", "-a", card, "--verify")
    assert ran.code == 2
    assert "Signature: no key /signatures/0: No keys were given" in ran.out
    assert "--keys FILE" in ran.err


def test_malformed_signature_is_reported_without_keys(cli: RunCli, tmp_path: Path):
    card, _ = recorded(tmp_path, "10", signatures=[{"protected": b64({"alg": "none", "kid": "x"}), "signature": ""}])
    ran = cli("card", "get", "-a", card, "--verify")
    assert ran.code == 1
    assert "Signature: refused /signatures/0/protected: The alg is none" in ran.out


def test_one_valid_signature_of_three_is_enough(cli: RunCli, tmp_path: Path):
    card, keys = recorded(tmp_path, "10")
    served = json.loads(Path(card).read_text("utf-8"))
    entries = [sign({}, kid="nobody"), *served["signatures"], {"protected": "!", "signature": "AAAA"}]
    ran = cli("card", "get", "-a", written(tmp_path, "three.json", served | {"signatures": entries}), "--keys", keys)
    assert ran.code == 0
    outcomes = [line.split(" /")[0] for line in ran.out.splitlines() if line.startswith("Signature: ")]
    assert outcomes == ["Signature: no key", "Signature: valid", "Signature: unusable"]


def test_a_card_that_is_not_signed_is_not_verified(cli: RunCli, mock: str):
    ran = cli("card", "get", "-a", mock, "--verify")
    assert ran.code == 0, "signing is optional"
    assert ran.out.endswith("Signatures: none\n")
    assert "Warning: the card is not signed" in ran.err
    required = cli("card", "get", "-a", mock, "--require-signature", "-o", "json")
    assert (required.code, json.loads(required.err.splitlines()[-1])["error"]["code"]) == (1, "A2ACLI_ERR_CARD_INVALID")


def test_signatures_are_counted_without_verify(cli: RunCli, tmp_path: Path):
    card, _ = recorded(tmp_path, "10")
    assert "Signatures: 1, not verified\n" in cli("card", "get", "-a", card).out


def test_invalid_key_file_fails_before_any_request(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    agent = signed_agent(make_agent)
    for name in (str(tmp_path / "nowhere"), written(tmp_path, "empty.json", {"keys": []})):
        ran = cli("card", "get", "-a", agent.url, "--keys", name, "-o", "json")
        assert (ran.code, ran.out) == (2, "")
        assert ran.error["code"] == "A2ACLI_ERR_USAGE"
    assert agent.calls == []


def test_keys_are_fetched_from_the_cards_origin_without_credentials(cli: RunCli, make_agent: MakeAgent):
    agent = signed_agent(make_agent)
    ran = cli("card", "get", "-a", agent.url, "--fetch-keys", "--bearer", "t0ken", "--auth-card")
    assert (ran.code, ran.err) == (0, "")
    assert "Signature: valid" in ran.out
    card, keys = agent.calls
    assert card.request.headers["Authorization"] == "Bearer t0ken"
    assert "Authorization" not in keys.request.headers


def test_fetched_keys_are_recorded(cli: RunCli, make_agent: MakeAgent):
    agent = signed_agent(make_agent)
    ran = cli("card", "get", "-a", agent.url, "--fetch-keys", "--debug")
    assert ran.code == 0
    assert f"{agent.url}/rpc" in ran.err
    assert KEYS["keys"][0]["x"] in ran.err


def test_keys_are_fetched_once_and_only_with_fetch_keys(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    agent = signed_agent(make_agent)
    agent.card["signatures"] *= 3
    assert cli("card", "get", "-a", agent.url, "--keys", written(tmp_path, "k.json", KEYS)).code == 0
    assert len(agent.calls) == 1
    assert cli("card", "get", "-a", agent.url, "--fetch-keys").code == 0
    assert len(agent.calls) == 3


def test_keys_at_another_origin_are_not_fetched(cli: RunCli, make_agent: MakeAgent):
    other = make_agent(serve_keys)
    agent = signed_agent(make_agent, jku=f"{other.url}/rpc")
    ran = cli("card", "get", "-a", agent.url, "--fetch-keys")
    assert ran.code == 1
    assert f"Warning: The keys at {other.url}/rpc are not fetched: expected the origin of the card" in ran.err
    assert "Signature: no key" in ran.out
    assert other.calls == []


def test_the_keys_of_a_card_from_a_file_are_not_fetched(cli: RunCli, tmp_path: Path):
    card, _ = recorded(tmp_path, "10")
    ran = cli("card", "get", "-a", card, "--fetch-keys")
    assert ran.code == 1
    assert "the card was read from a file" in ran.err


def test_key_redirect_is_followed_within_the_origin_only(cli: RunCli, make_agent: MakeAgent):
    other = make_agent(serve_keys)

    async def answer(call: Call) -> web.StreamResponse:
        if "to" not in call.request.query:
            return await serve_keys(call)
        if call.request.query["to"] == "again":
            return web.Response(status=302, headers={"Location": call.request.path_qs})
        return web.Response(status=302, headers={"Location": call.request.query["to"]})

    assert cli("card", "get", "-a", signed_agent(make_agent, answer, "{url}/rpc?to=/rpc").url, "--fetch-keys").code == 0
    out = signed_agent(make_agent, answer, f"{{url}}/rpc?to={other.url}/rpc")
    ran = cli("card", "get", "-a", out.url, "--fetch-keys")
    assert ran.code == 1
    assert "expected the origin of the card" in ran.err
    assert other.calls == []
    endless = signed_agent(make_agent, answer, "{url}/rpc?to=again")
    assert "redirected more than 5 times" in cli("card", "get", "-a", endless.url, "--fetch-keys").err
    assert len(endless.calls) == 7


@pytest.mark.parametrize(
    ("status", "content_type", "body", "message"),
    [
        (404, "text/html", b"<html>", "could not be fetched: status 404"),
        (200, "text/html", b"<html>", "Not valid JSON"),
        (200, "application/json", b"[]", "This is not a JWK Set"),
        (200, "application/json", b'{"keys":[{"kty":"oct","kid":"s","k":"AAAA"}]}', "shared secret"),
        (200, "text/event-stream", b"data: {}\n\n", "a stream of events instead of keys"),
        (302, "text/html", b"", "could not be fetched: status 302"),
    ],
)
def test_key_response_without_keys_is_reported(
    cli: RunCli, make_agent: MakeAgent, status: int, content_type: str, body: bytes, message: str
):
    async def answer(call: Call) -> web.StreamResponse:
        return web.Response(status=status, body=body, content_type=content_type)

    ran = cli("card", "get", "-a", signed_agent(make_agent, answer).url, "--fetch-keys")
    assert ran.code == 1
    assert ran.err.startswith("Warning: ")
    assert message in ran.err


def test_closed_connection_instead_of_keys_is_reported(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        assert call.request.transport is not None
        call.request.transport.abort()
        return web.Response()

    ran = cli("card", "get", "-a", signed_agent(make_agent, answer).url, "--fetch-keys")
    assert ran.code == 1
    assert "could not be fetched: " in ran.err


def test_card_without_jku_is_reported(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent()
    agent.card = {"signatures": [sign(agent.whole_card()), sign(agent.whole_card(), jku=["x"])]}
    ran = cli("card", "get", "-a", agent.url, "--fetch-keys")
    assert ran.code == 1
    assert "No signature of the card names the URL of its keys (jku)." in ran.err


def test_extended_card_is_verified_instead_of_the_public_card(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    async def answer(call: Call) -> web.StreamResponse:
        card = agent.whole_card() | {"name": "For those we know"}
        return call.result(card | {"signatures": [sign(card)]})

    agent = make_agent(answer, {"capabilities": {"extendedAgentCard": True}})
    ran = cli("card", "get", "-a", agent.url, "--extended", "--keys", written(tmp_path, "k.json", KEYS))
    assert ran.code == 0
    assert "Name: For those we know\n" in ran.out
    assert "Signature: valid" in ran.out


def test_signature_content_cannot_forge_output_lines(cli: RunCli, tmp_path: Path):
    card, keys = recorded(tmp_path, "10", signatures=[sign({}, kid="\x1b[2J\nSignature: valid")])
    ran = cli("card", "get", "-a", card, "--keys", keys)
    assert ran.code == 1
    assert "\x1b" not in ran.out + ran.err
    assert not any(line.startswith("Signature: valid") for line in ran.out.splitlines())
