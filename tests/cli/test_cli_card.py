from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from puppets import CARD, CARD_PATH, Call, MakeAgent, RunCli

from inspector.findings.rules import RULES


def card_file(folder: Path, card: object) -> str:
    path = folder / "card.json"
    path.write_text(json.dumps(card), encoding="utf-8")
    return str(path)


def test_card_is_printed_as_fields(cli: RunCli, mock: str):
    ran = cli("card", "get", "-a", mock)
    assert (ran.code, ran.err) == (0, "")
    fields = [line.split(": ", 1) for line in ran.out.splitlines()]
    assert all(len(field) == 2 for field in fields)
    named = dict(reversed(fields))
    assert named["Name"] == "Mock Agent"
    assert named["Card"] == f"{mock}{CARD_PATH}"
    assert named["Capabilities"] == "streaming, push notifications"
    assert named["Findings"] == "not checked"
    interfaces = [value for label, value in fields if label == "Interface"]
    assert interfaces[0] == f"{mock}/ JSONRPC 1.0 (in use: preferred)"
    assert interfaces[1] == f"{mock}/v0.3 JSONRPC 0.3 (supported with --a2a-version 0.3)"
    assert "report 20" in [value for label, value in fields if label == "Example"]
    assert named["Security"] == "none required"


def test_the_security_requirements_are_compared_with_the_credentials(cli: RunCli, make_agent: MakeAgent):
    skill = {"id": "s", "name": "S", "description": "d", "tags": ["t"]}
    own = [{"schemes": {"token": {"list": []}, "sso": {"list": ["write"]}}}]
    agent = make_agent(
        card={
            "securitySchemes": {
                "token": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
                "tls": {"mtlsSecurityScheme": {}},
                "sso": {"oauth2SecurityScheme": {"flows": {"password": {"tokenUrl": "https://sso.example/token"}}}},
            },
            "securityRequirements": [{"schemes": {"token": {"list": []}, "tls": {}}}, {"schemes": {"token": {}}}],
            "skills": [{**skill, "securityRequirements": own}, skill],
        }
    )
    lines = cli("card", "get", "-a", agent.url, "--bearer", "s3cret").out.splitlines()
    assert [line for line in lines if line.startswith("Security: ")] == [
        "Security: a bearer token and a client certificate (missing: a client certificate)",
        "Security: a bearer token (given)",
    ]
    assert [line for line in lines if line.startswith("Skill security: ")] == [
        "Skill security: a bearer token and OAuth 2.0 (password) with write (given)"
    ]
    [refused] = [line for line in lines if line.startswith("Security scheme: ")]
    assert refused.startswith("Security scheme: sso: password is not used: deprecated: ")
    assert "Security: a bearer token (missing)" in cli("card", "get", "-a", agent.url).out


def test_json_is_the_card_as_served(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(card={"x-unknown": [1.0, None, "ü"]})
    ran = cli("card", "get", "-a", agent.url, "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json == agent.whole_card()


def test_card_of_an_older_version_is_printed_as_served(cli: RunCli, tmp_path: Path):
    old = CARD | {"url": "http://127.0.0.1:9/", "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC"}
    reference = card_file(tmp_path, old)
    assert cli("card", "get", "-a", reference, "-o", "json").json == old
    assert (
        "http://127.0.0.1:9/ JSONRPC 0.3.0 (supported with --a2a-version 0.3)"
        in cli("card", "get", "-a", reference).out
    )


def test_reference_is_a_host_a_card_url_a_path_or_a_file_url(cli: RunCli, mock: str, tmp_path: Path):
    served = cli("card", "get", "-a", f"{mock}{CARD_PATH}", "-o", "json")
    path = card_file(tmp_path, served.json)
    for reference in (mock, mock.removeprefix("http://"), path, Path(path).as_uri()):
        ran = cli("card", "get", "-a", reference, "-o", "json")
        assert (ran.code, ran.json) == (0, served.json)


def test_agent_from_the_environment_is_overridden_by_the_option(cli: RunCli, mock: str):
    assert "Mock Agent" in cli("card", "get", A2ACLI_AGENT_CARD=mock).out
    assert "Mock Agent" in cli("card", "get", "-a", mock, A2ACLI_AGENT_CARD="http://127.0.0.1:1").out


def test_output_format_from_the_environment_is_overridden_by_the_option(cli: RunCli, mock: str):
    assert cli("card", "get", "-a", mock, A2ACLI_OUTPUT="json").json["name"] == "Mock Agent"
    assert cli("card", "get", "-a", mock, "-o", "text", A2ACLI_OUTPUT="json").out.startswith("Name: ")
    assert cli("card", "get", "-a", mock, A2ACLI_OUTPUT="yaml").code == 2


def test_inwhole_card_is_printed(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(card={"description": None, "version": None})
    ran = cli("card", "get", "-a", agent.url)
    assert ran.code == 0
    assert "Name: Puppet\n" in ran.out
    assert "Findings: not checked\n" in ran.out
    assert "Findings: 2 errors\n" not in cli("card", "get", "-a", agent.url, "--validate").out


def test_validation_prints_findings_and_fails(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(card={"description": None})
    ran = cli("card", "get", "-a", agent.url, "--validate")
    assert ran.code == 1
    message = "A required member of the card is missing: description is missing"
    assert f"Finding: error CARD-001 /description: {message}\n" in ran.out
    assert "CARD-001" in ran.err


def test_validation_in_json_prints_findings_on_stderr(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(card={"description": None})
    ran = cli("card", "get", "-a", agent.url, "--validate", "-o", "json")
    assert ran.code == 1
    assert ran.json["name"] == "Puppet"
    finding, failure = [json.loads(line) for line in ran.err.splitlines()]
    assert finding == {
        "id": "CARD-001",
        "severity": "error",
        "pointer": "/description",
        "section": RULES["CARD-001"].section,
        "message": "A required member of the card is missing: description is missing",
        "remedy": RULES["CARD-001"].remedy,
    }
    assert failure["error"]["code"] == "A2ACLI_ERR_CARD_INVALID"


def test_a_valid_card_passes_validation(cli: RunCli, mock: str):
    ran = cli("card", "get", "-a", mock, "--validate")
    assert ran.code == 0
    assert ran.out.endswith("Findings: none\n")


def test_a_warning_does_not_fail_validation(cli: RunCli, make_agent: MakeAgent):
    odd = {"url": "https://a.example/", "protocolBinding": "https://a.example/own/v1", "protocolVersion": "1.0"}
    agent = make_agent(
        card=web.Response(body=json.dumps(CARD | {"supportedInterfaces": [odd]}), content_type="text/plain")
    )
    ran = cli("card", "get", "-a", agent.url, "--validate")
    assert ran.code == 0
    assert "Finding: warning CARD-003" in ran.out
    assert "Finding: hint CARD-005" in ran.out


def test_verbose_prints_more_members_of_skills(cli: RunCli, mock: str):
    assert "Skill tags: " not in cli("card", "get", "-a", mock).out
    assert "Skill tags: streaming, artifact, markdown\n" in cli("card", "get", "-a", mock, "--verbose").out


def test_multiline_text_is_an_indented_block(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(card={"description": "first\n\nName: not a field"})
    assert (
        "Description:\n  first\n  \n  Name: not a field\n\nVersion: 1.0.0\n" in cli("card", "get", "-a", agent.url).out
    )


def extended(**members: object):  # type: ignore[no-untyped-def]
    async def answer(call: Call) -> web.StreamResponse:
        served = CARD | {"supportedInterfaces": [], "name": "For those we know"} | members
        return call.result({name: member for name, member in served.items() if member is not None})

    return answer


def test_extended_card_is_requested_with_credentials(cli: RunCli, make_agent: MakeAgent):
    schemes = {"token": {"httpAuthSecurityScheme": {"scheme": "bearer"}}}
    agent = make_agent(extended(x=[1.5]), {"capabilities": {"extendedAgentCard": True}, "securitySchemes": schemes})
    ran = cli("card", "get", "-a", agent.url, "--extended", "--bearer", "t0ken", "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json == CARD | {"supportedInterfaces": [], "name": "For those we know", "x": [1.5]}
    assert agent.methods == ["GetExtendedAgentCard"]
    assert agent.calls[-1].request.headers["Authorization"] == "Bearer t0ken"
    shown = cli("card", "get", "-a", agent.url, "--extended")
    assert shown.out.startswith("Name: For those we know\n")
    assert f"\nCard: {agent.url}/rpc\n" in shown.out


def test_extended_card_is_validated_instead_of_the_public_card(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(extended(description=None), {"capabilities": {"extendedAgentCard": True}})
    assert cli("card", "get", "-a", agent.url, "--validate").code == 0
    ran = cli("card", "get", "-a", agent.url, "--extended", "--validate")
    assert ran.code == 1
    assert "Finding: error CARD-001 /description" in ran.out


def test_undeclared_extended_card_is_requested_with_a_warning(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.error(-32007, "none here")

    ran = cli("card", "get", "-a", make_agent(answer).url, "--extended")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("Warning: the card declares no extended card; ")
    assert "ExtendedAgentCardNotConfiguredError" in ran.err


@pytest.mark.parametrize("value", [["no card"], {"provider": "us"}], ids=["array", "member of the wrong type"])
def test_invalid_extended_card_is_an_agent_error(cli: RunCli, make_agent: MakeAgent, value: object):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(value)

    ran = cli("card", "get", "-a", make_agent(answer).url, "--extended", "-o", "json")
    assert ran.code == 1
    assert '"InvalidAgentResponseError"' in ran.err


@pytest.mark.parametrize(
    ("schemes", "option", "is_sent"),
    [
        ({}, ("--bearer", "T0ken"), False),
        ({"key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}}, ("--bearer", "T0ken"), False),
        ({"key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}}, ("--api-key", "T0ken"), True),
        ({"token": {"httpAuthSecurityScheme": {"scheme": "bearer"}}}, ("--bearer", "T0ken"), True),
    ],
)
def test_the_extended_card_gets_only_credentials_of_a_declared_scheme(
    cli: RunCli, make_agent: MakeAgent, schemes: Any, option: tuple[str, str], is_sent: bool
):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(agent.whole_card())

    agent = make_agent(answer, card={"capabilities": {"extendedAgentCard": True}, "securitySchemes": schemes})
    ran = cli("card", "get", agent.url, "--extended", *option, "-o", "json")
    sent = [call for call in agent.calls if "T0ken" in str(call.request.headers)]
    assert bool(sent) is is_sent
    assert ran.code == (0 if is_sent else 4)
    if not is_sent:
        assert ran.error["code"] == "A2ACLI_ERR_AUTH_FAILED"
