"""A2UI 0.8 to 0.10: messages about user interfaces in data parts, as the tree of components of each surface."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from inspector.protocol.extensions.outline import Line, Outline, fields, items, members, outline, text
from inspector.protocol.pointer import at
from inspector.text.units import counted

MEDIA_TYPES = frozenset({"application/a2ui+json", "application/json+a2ui"})
"""The media types of a part with messages: since 0.9.1, and before."""
_DEEPEST = 20
_ROOT = "root"
_TEXTS = ("text", "label", "title", "name", "url", "description", "hint")
"""The members of a component that describe it best, in this order."""
_SINGLE = ("child", "content", "trigger", "entryPointChild", "contentChild")
_LITERALS = ("literalString", "literalNumber", "literalBoolean", "literal")


def describe(value: Any) -> Outline:
    """Return what the messages of a part create, change and delete, with the components as a tree."""
    messages = [members(message) for message in (value if isinstance(value, list) else [value])]
    data = _data_of(messages)
    roots = {_surface(each): text(each.get("root")) for each in _bodies(messages, "beginRendering") if each.get("root")}
    titles: list[str] = []
    lines: list[Line] = []
    updated = {_surface(each) for kind in ("updateComponents", "surfaceUpdate") for each in _bodies(messages, kind)}
    for message in messages:
        for kind, body in message.items():
            if kind != "version" and isinstance(body, dict):
                title, found = _message(kind, body, roots, data)
                titles += [] if title in updated else [title]
                lines += [Line(0, kind, title), *found]
    return outline(f"A2UI {', '.join(dict.fromkeys(filter(None, titles))) or 'without messages'}", lines)


def _bodies(messages: Iterable[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [members(message.get(kind)) for message in messages if isinstance(message.get(kind), dict)]


def _surface(body: Mapping[str, Any]) -> str:
    return text(body.get("surfaceId")) or "surface"


def _message(
    kind: str, body: Mapping[str, Any], roots: Mapping[str, str], data: Mapping[str, Any]
) -> tuple[str, list[Line]]:
    surface = _surface(body)
    match kind:
        case "updateComponents" | "surfaceUpdate":
            components = _components(body)
            count = counted(len(components), "component")
            return f"{surface}: {count}", list(_tree(components, roots.get(surface, _ROOT), data.get(surface)))
        case "createSurface" | "beginRendering":
            return surface, fields(1, ("catalog", body.get("catalogId")), ("root", body.get("root")))
        case "updateDataModel" | "dataModelUpdate":
            path = text(body.get("path")) or "/"
            return f"{surface} data at {path}", fields(1, (path, body.get("value", body.get("contents"))))
        case "action" | "userAction":
            source = body.get("sourceComponentId")
            words = f"{surface}: {text(body.get('name'))}{f' by {text(source)}' if source else ''}"
            return words, fields(1, ("context", body.get("context")), ("time", body.get("timestamp")))
        case "error":
            seen = f"{surface}: {text(body.get('message', body.get('code')))}"
            return seen, [Line(1, "error", text(body.get("message", body.get("code"))), is_problem=True)]
        case _:
            return surface if body.get("surfaceId") else "", fields(1, (kind, body))


def _components(body: Mapping[str, Any]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return the type and the members of each component by its id; before 0.9, the type is the name of a member."""
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for component in map(members, items(body.get("components"))):
        kind, inner = component.get("component"), component
        if isinstance(kind, dict):
            kind, inner = next(((name, members(each)) for name, each in kind.items()), ("", {}))
        found[text(component.get("id")) or f"#{len(found) + 1}"] = text(kind) or "component", inner
    return found


def _tree(components: Mapping[str, tuple[str, Mapping[str, Any]]], root: str, data: Any) -> Iterator[Line]:
    """Return the components below the root; those that no shown component refers to are roots, too."""
    shown: set[str] = set()

    def below(name: str, depth: int, note: str = "") -> Iterator[Line]:
        if name not in components:
            yield Line(depth, "", f"{name}: not in this message{note}")
            return
        if name in shown:
            yield Line(depth, "", f"{name}: see above{note}")
            return
        shown.add(name)
        kind, inner = components[name]
        yield Line(depth, kind, f"{_words(inner, data)}{note}")
        if depth < _DEEPEST:
            for child, about in _children(inner):
                yield from below(child, depth + 1, about)

    referred = {child for _, inner in components.values() for child, _ in _children(inner)}
    first = [root] if root in components else []
    for name in (*first, *(name for name in components if name not in referred), *components):
        if name not in shown:
            yield from below(name, 1)


def _children(inner: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the ids of the children of a component, each with a note about a list that repeats it."""
    found = [(child, "") for name in _SINGLE if isinstance(child := inner.get(name), str)]
    children = inner.get("children")
    if isinstance(children, dict):  # a template, or the list of 0.8
        template = members(children.get("template")) or children
        found += [(child, "") for child in items(children.get("explicitList")) if isinstance(child, str)]
        if isinstance(child := template.get("componentId"), str):
            found.append((child, f"  for each of {text(template.get('path', template.get('dataBinding')))}"))
    found += [(child, "") for child in items(children) if isinstance(child, str)]
    for tab in items(inner.get("tabs", inner.get("tabItems"))):
        if isinstance(child := members(tab).get("child"), str):
            found.append((child, f"  tab {_literal(members(tab).get('title'), None)}"))
    return found


def _words(inner: Mapping[str, Any], data: Any) -> str:
    """Return the text of a component, what its value is bound to, and the event that it sends."""
    words = next((shown for name in _TEXTS if (shown := _literal(inner.get(name), data))), "")
    bound = _literal(inner.get("value", inner.get("checked")), data)
    action = members(inner.get("action"))
    event = text(members(action.get("event")).get("name")) or text(action.get("name"))
    call = text(members(action.get("functionCall")).get("call"))
    sends = f"sends {event}" if event else f"calls {call}" if call else ""
    return "  ".join(filter(None, (words, f"= {bound}" if bound else "", sends)))


def _literal(value: Any, data: Any) -> str:
    """Return a text, or the path to which it is bound with its value in the data model, if that is known."""
    if not isinstance(value, dict):
        return text(value)
    for name in _LITERALS:
        if name in value:
            return text(value[name])
    if isinstance(path := value.get("path"), str):
        found = text(at(data, path)) if path.startswith("/") else ""
        return f"{{{path}}}{f' {found}' if found else ''}"
    return f"{text(value['call'])}()" if "call" in value else text(value)


def _data_of(messages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the data models that the messages set; only members of objects are set, which is what bindings need."""
    found: dict[str, Any] = {}
    for body in _bodies(messages, "updateDataModel"):
        steps = [step for step in text(body.get("path")).split("/") if step]
        if not steps:
            found[_surface(body)] = body.get("value")
            continue
        target = found[_surface(body)] = _copied(found.get(_surface(body), {}))
        for step in steps[:-1]:
            if isinstance(target, _Copy):
                inner = target[step] = _copied(target.get(step, {}))
                target = inner
        if isinstance(target, _Copy):
            target[steps[-1]] = body.get("value")
    return found


class _Copy(dict[str, Any]):
    """An object of a data model that is not part of the payload, so that it can be changed."""


def _copied(value: Any) -> Any:
    """Return a copy of an object of the payload, which is copied once; other values are not changed."""
    return _Copy(value) if isinstance(value, dict) and not isinstance(value, _Copy) else value
