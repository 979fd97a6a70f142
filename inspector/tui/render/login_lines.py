"""A login as lines: its steps, what the user has to do, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from inspector.findings.finding import Finding, Severity
from inspector.session.login.state import LoginState, Step
from inspector.session.login.tokens import Token
from inspector.text.sanitise import clean_line
from inspector.tui.keys import key_of
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import BLANK, Paragraph, labelled, without_head
from inspector.tui.render.times import ago, clock

_LABEL = 10
_PROBLEM = 200
"""The most characters of the reason why a token was not renewed."""
_SCOPES = 300
"""The most characters of scopes that are shown."""
_DAY = 86_400


def login_paragraphs(
    state: LoginState, glyphs: Glyphs, *, redirect_port: int = 0, no_browser: str = "", brief: bool = False
) -> list[Paragraph]:
    """Return the steps of a login that runs, or the one that failed, and what the user has to do.

    `redirect_port` is 0 for a flow without a redirect; `no_browser` is why no browser can be opened here. If `brief`,
    only the current step is shown while the user has to do something.
    """
    steps = [] if state.succeeded else state.steps
    if state.error is not None or (brief and state.open_url):  # the rest needs the room
        steps = [step for step in steps if step is state.current]
    lines = [_step(step, state, glyphs) for step in steps]
    if state.error is not None:
        lines += [BLANK, Paragraph((f"{glyphs.cross} ", "line--bad"), state.error.seen, "line--bad")]
        if state.error.hint:
            lines.append(Paragraph(("  ", "line--text"), state.error.hint, "line--text"))
    elif state.open_url:
        lines += [BLANK, *_page(state, redirect_port, no_browser)]
    return lines


def _step(step: Step, state: LoginState, glyphs: Glyphs) -> Paragraph:
    if step in state.done:
        return Paragraph((f"{glyphs.check} ", "line--good"), step.in_words, "line--text")
    if step is not state.current:
        return Paragraph((f"{glyphs.quiet} ", "line--quiet"), step.in_words, "line--quiet")
    if state.error is not None:
        return Paragraph((f"{glyphs.cross} ", "line--bad"), step.in_words, "line--bad")
    text = "Wait until you have logged in with the code" if state.user_code else step.in_words
    return Paragraph((f"{glyphs.poll} ", "line--warning"), text, "line--strong")


def _page(state: LoginState, port: int, no_browser: str) -> Iterator[Paragraph]:
    """Return the page to open, the code to enter there, and the keys to do so."""
    yield without_head(f"Log in on this page of {urlsplit(state.open_url).netloc}:", "line--strong")
    yield without_head(state.open_url)
    if state.user_code:
        yield BLANK
        yield Paragraph(("Code   ", "line--strong"), state.user_code, "line--good")
        yield without_head("Enter the code if the page asks for it, or compare it.", "line--soft")
    yield BLANK
    yield from (without_head(text, "line--soft") for text in _how_to_open(state, port, no_browser))


def _how_to_open(state: LoginState, port: int, no_browser: str) -> list[str]:
    copied = key_of("copy")
    if not no_browser:
        text = f"Press {key_of('open')} to open it in the browser, or {copied} to copy the URL."
        return [f"{text} The page returns to port {port} of this machine." if port else text]
    if not state.short_url:
        return [no_browser, f"Press {copied} to copy the URL, and open it on any device."]
    return [
        no_browser,
        f"Press {copied} to copy the URL, or open {state.short_url}, which leads there.",
        f"On another machine, first run: ssh -L {port}:127.0.0.1:{port} HOST",
    ]


def waiting_in_words(state: LoginState, now: float) -> str:
    """Return how long the user has to log in, `""` if nothing is waited for."""
    if state.expires_at is None or state.finished:
        return ""
    minutes, seconds = divmod(max(0, round(state.expires_at - now)), 60)
    return f"waiting for the login, {minutes}:{seconds:02d} left"


def token_paragraphs(token: Token, state: LoginState, glyphs: Glyphs) -> list[Paragraph]:
    """Return what a login has got: the user, the scopes, the expiry, and where the token is sent."""
    user = f" as {clean_line(token.subject, _SCOPES)}" if token.subject else ""
    granted = _scopes(token.scopes)
    lines = [Paragraph((f"{glyphs.check} ", "line--good"), f"Logged in{user}", "line--good")]
    lines.append(labelled("  Scopes", granted or "the server names none", _LABEL))
    missing = [scope for scope in state.requested_scopes if scope not in token.scopes]
    if missing:
        lines.append(labelled("", f"{glyphs.cross} not granted: {_scopes(missing)}", _LABEL, "line--warning"))
    lines.append(labelled("  Expires", expiry_in_words(token, time.time()), _LABEL))
    lines.append(labelled("  Sent to", f"{token.key.origin}, and nowhere else", _LABEL))
    return lines


def login_findings(findings: Sequence[Finding], glyphs: Glyphs) -> list[Paragraph]:
    """Return what the authorization server does wrong, each finding once."""
    once = {finding.rule: finding for finding in findings}.values()
    lines = [_finding(finding, glyphs) for finding in once]
    return [BLANK, *lines] if lines else []


def _finding(finding: Finding, glyphs: Glyphs) -> Paragraph:
    style = "line--bad" if finding.severity is Severity.ERROR else "line--warning"
    return Paragraph((f"{glyphs.severities[finding.severity]} {finding.rule}  ", style), finding.seen, "line--text")


def _scopes(scopes: list[str] | tuple[str, ...]) -> str:
    return clean_line(", ".join(scopes), _SCOPES)


def expiry_in_words(token: Token, now: float) -> str:
    """Return when a token expires, and what happens then."""
    if token.expires_at is None:
        return "at an unknown time: the server sent no expires_in"
    left = token.expires_at - now
    far = f"in {ago(left)}" if left > 0 else f"{ago(-left)} ago"
    when = f"at {clock(token.expires_at)}" if abs(left) < _DAY else far
    if token.can_renew:
        return f"{when}, then a new token is requested automatically"
    return f"{when}, then you have to log in again: the server issued no refresh token"


def login_in_words(token: Token, now: float, not_renewed: str = "") -> str:
    """Return a login that is in use, in one line; `not_renewed` is why its token could not be renewed."""
    named = f"{clean_line(token.key.scheme, 40)} as {clean_line(token.subject or token.key.client_id, 60)}"
    scopes = f", scopes {_scopes(token.scopes)}" if token.scopes else ""
    expires = "expired" if token.expires_within(0, now) else "expires"
    if not_renewed:
        ends = f"{expires} at {clock(token.expires_at)}" if token.expires_at is not None else expires
        return f"logged in with {named}{scopes}, {ends}; not renewed: {clean_line(not_renewed, _PROBLEM)}"
    return f"logged in with {named}{scopes}, {expires} {expiry_in_words(token, now)}"
