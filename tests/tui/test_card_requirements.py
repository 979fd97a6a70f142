"""The security requirements of skills in the lines of a card, compared with the credentials that are sent."""

from __future__ import annotations

from inspector.protocol.card import AgentCard
from inspector.session.authentication import Authentication
from inspector.tui.render.card_lines import EnterCredentials, FindingsByMember
from inspector.tui.render.glyphs import UNICODE
from inspector.tui.render.skills import SkillLines
from inspector.wire.client.credentials import Credentials

URL = "https://agent.example/rpc"
CARD = AgentCard.model_validate(
    {
        "securitySchemes": {
            "token": {"httpAuthSecurityScheme": {"scheme": "bearer"}},
            "tls": {"mtlsSecurityScheme": {}},
        },
        "securityRequirements": [{"schemes": {"token": {}}}],
        "skills": [
            {"id": "own", "securityRequirements": [{"schemes": {"token": {}, "tls": {}}}, {"schemes": {"token": {}}}]},
            {"id": "without"},
        ],
    }
)


def shown(lines: SkillLines) -> list[str]:
    return ["".join(text for text, _ in lines.line(index).pieces).rstrip() for index in range(len(lines))]


def test_the_requirements_of_a_skill_are_shown_with_what_is_missing():
    lines = SkillLines(CARD, FindingsByMember([]), UNICODE)
    lines.layout(100)
    assert [line for line in shown(lines) if "token" in line] == [
        "    requires ✕ a bearer token and a client certificate   missing",
        "    or ✕ a bearer token   missing",
    ]
    acts = [lines.line(index).act for index, line in enumerate(shown(lines)) if "token" in line]
    assert acts == [EnterCredentials(), EnterCredentials()]
    bearer = Credentials({"Authorization": "Bearer s3cret"}, frozenset({"https://agent.example:443"}))
    lines.authenticate(Authentication(bearer, URL))
    assert [line for line in shown(lines) if "token" in line] == [
        "    requires ✕ a bearer token and a client certificate   missing: a client certificate",
        "    or ✓ a bearer token   given",
    ]
