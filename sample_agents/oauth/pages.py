"""The pages that the user sees in the browser. Each is one form, which `curl` can send, too."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from aiohttp import web

ALLOW = "allow"
DENY = "deny"
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:34em;margin:4em auto;padding:0 1em}button{font:inherit;margin-right:1em}"
)


def page(title: str, content: str, status: int = 200) -> web.Response:
    """Return a page; `content` is HTML."""
    text = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n{content}\n</body></html>\n"
    )
    headers = {"Cache-Control": "no-store", "X-Frame-Options": "DENY"}
    return web.Response(text=text, status=status, content_type="text/html", headers=headers)


def message_page(title: str, text: str, status: int = 200) -> web.Response:
    """Return a page with a text."""
    return page(title, f"<p>{escape(text)}</p>", status)


def consent_page(client: str, scopes: Sequence[str]) -> web.Response:
    """Return the page that asks the user to allow an authorization request; its form is sent to the same URL."""
    return page("Allow access to the mock agent?", _question(client, scopes) + _form(""))


def device_page(user_code: str) -> web.Response:
    """Return the page on which the user enters the code that the device shows."""
    field = (
        '<p><label>Code: <input name="user_code" autocomplete="off" required '
        f'value="{escape(user_code, quote=True)}"></label></p>\n'
    )
    return page("Connect a device", "<p>Enter the code that the device shows.</p>\n" + _form(field))


def _question(client: str, scopes: Sequence[str]) -> str:
    items = "".join(f"<li><code>{escape(scope)}</code></li>" for scope in scopes)
    return f"<p>The client <b>{escape(client)}</b> asks for these scopes:</p>\n<ul>{items}</ul>\n"


def _form(fields: str) -> str:
    buttons = "".join(
        f'<button name="decision" value="{value}">{label}</button>'
        for value, label in ((ALLOW, "Allow"), (DENY, "Deny"))
    )
    return f'<form method="post">\n{fields}<p>{buttons}</p></form>'
