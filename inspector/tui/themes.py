"""Themes: TOML files, validated before Textual uses them, and the CSS variables of a2a-inspect."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from inspector.lazy_dataclass import dataclass
from inspector.text import safe_toml

MEANINGS: Mapping[str, str] = {
    "wire-sent": "ansi_yellow",
    "wire-received": "ansi_blue",
    "wire-pushed": "ansi_magenta",
    "wire-quiet": "ansi_default",  # keep-alives, times and other background noise
    "state-good": "ansi_green",
    "state-warning": "ansi_yellow",
    "state-bad": "ansi_red",
    "rule": "ansi_default",  # the line between panes
    "cursor": "ansi_black",  # the background of the row under the cursor
    "bar": "ansi_cyan",  # the bar at that row, and the title of the focused pane
    "text-soft": "ansi_default",  # labels, ids, units
    "json-key": "ansi_cyan",
    "json-string": "ansi_green",
    "json-number": "ansi_magenta",  # true, false and null, too
    "json-punct": "ansi_default",
}
"""The CSS variables of a2a-inspect, with their values in ANSI themes; other themes define opaque colours."""

READABLE = 4.5
"""The minimum contrast of text on its background (WCAG 2.2, 1.4.3, level AA)."""

_PALETTE = (
    "primary",
    "secondary",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "success",
    "warning",
    "error",
)
_WIRE_ON_DARK = {"wire-sent": "#e5a35a", "wire-received": "#a9d0ff", "wire-pushed": "#bd82f2"}
_WIRE_ON_LIGHT = {"wire-sent": "#733408", "wire-received": "#0d5cd6", "wire-pushed": "#740f86"}
_TEXT_STYLES = frozenset({"none", "bold", "dim", "italic", "reverse", "strike", "underline"})
_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class ThemeProblem:
    """Why a theme file cannot be used: the name of the file, and a message for its author."""

    file: str
    sentence: str


def load_themes(folder: Traversable | None = None) -> tuple[list[Theme], list[ThemeProblem]]:
    """Read every `*.toml` of a folder (default: the built-in themes); the file name is the name of the theme."""
    themes: list[Theme] = []
    problems: list[ThemeProblem] = []
    folder = resources.files("inspector.themes") if folder is None else folder
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            theme, sentences = _read(file)
            problems.extend(ThemeProblem(file.name, sentence) for sentence in sentences)
            themes += [theme] if theme is not None else []
    return themes, problems


def _read(file: Traversable) -> tuple[Theme | None, list[str]]:
    try:
        document = safe_toml.read(file.read_text(encoding="utf-8"))
    except OSError as error:
        return None, [f"The file cannot be read: {error.strerror}."]
    except ValueError as error:  # TomlError and UnicodeDecodeError are ValueErrors
        return None, [f"The file is not TOML: {error}."]
    return parse_theme(Path(file.name).stem, document)


def parse_theme(name: str, document: Mapping[str, Any]) -> tuple[Theme | None, list[str]]:
    """Return the theme that a TOML document defines, or None and a message for each problem."""
    sentences: list[str] = []
    if not _NAME.fullmatch(name):
        sentences.append(f"{name!r} is not a valid theme name. Use lower-case letters, digits and hyphens.")
    if not isinstance(document.get("dark"), bool):
        sentences.append("`dark` must be true or false.")
    sentences += [f"`{key}` is unknown." for key in document if key not in {"dark", "palette", "meaning", "variables"}]
    palette: dict[str, Any] = _colours(document, "palette", _PALETTE, sentences)
    meaning = _colours(document, "meaning", MEANINGS, sentences)
    if sentences:
        return None, sentences
    theme = Theme(name=name, dark=document["dark"], **palette)
    variables = dict(_textual_variables(document.get("variables", {}), theme, sentences))
    theme.variables = {**variables, **meaning}
    return (None, sentences) if sentences else (theme, [])


def _colours(document: Mapping[str, Any], table: str, names: Collection[str], sentences: list[str]) -> dict[str, str]:
    values = document.get(table, {})
    if not isinstance(values, dict):
        sentences.append(f"`{table}` must be a table.")
        return {}
    sentences += [f"`{table}.{name}` is missing." for name in names if name not in values]
    sentences += [f"`{table}.{name}` is unknown." for name in values if name not in names]
    colours = {}
    for name in names:
        if name not in values:
            continue
        colour = _colour(values[name])
        if colour is None:
            sentences.append(f"`{table}.{name}` is not a colour: {values[name]!r}.")
        elif colour.a != 1:
            sentences.append(f"`{table}.{name}` must be opaque: {values[name]!r}.")
        else:
            colours[name] = colour.hex
    return colours


def _textual_variables(values: object, theme: Theme, sentences: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the Textual variables whose values are plain colours or text styles, which cannot break a screen."""
    if not isinstance(values, dict):
        sentences.append("`variables` must be a table.")
        return
    known = theme.to_color_system().generate()
    for name, value in values.items():
        if name not in known:
            sentences.append(f"`variables.{name}` is not a Textual variable.")
        elif "-style" in name:
            words = value.split() if isinstance(value, str) else []
            if not words or not _TEXT_STYLES.issuperset(words):
                sentences.append(f"`variables.{name}` is not a text style: {value!r}.")
            else:
                yield name, " ".join(words)
        elif (colour := _colour(value)) is None:
            sentences.append(f"`variables.{name}` is not a colour: {value!r}.")
        else:
            yield name, colour.hex


def _colour(value: object) -> Color | None:
    """Return a colour with RGB values; None for anything else, for example `auto` and terminal colours."""
    if not isinstance(value, str):
        return None
    try:
        colour = Color.parse(value)
    except ColorParseError:
        return None
    return None if colour.auto or colour.ansi is not None else colour


def contrast(first: Color, second: Color) -> float:
    """Return the contrast ratio of two opaque colours, from 1 to 21 (WCAG 2.2, "contrast ratio")."""
    dark, light = sorted((_luminance(first), _luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def fallback_variables(theme: Theme) -> dict[str, str]:
    """Return a value for each of `MEANINGS`, derived from the palette of a theme that does not define them."""
    if theme.ansi:
        # The terminal's colours are unknown; black or white is the safest background for them.
        return {**MEANINGS, "cursor": "ansi_black" if theme.dark else "ansi_white"}
    known = {name: Color.parse(value) for name, value in theme.to_color_system().generate().items() if name in _PALETTE}
    background, foreground = known["background"], known["foreground"]
    cursor = background.blend(known["primary"], 0.12, alpha=1)
    muted = foreground.blend(background, 0.35, alpha=1)
    colours = {
        # Most palettes do not have three colours that all people can distinguish, so these are fixed.
        **{name: Color.parse(value) for name, value in (_WIRE_ON_DARK if theme.dark else _WIRE_ON_LIGHT).items()},
        "wire-quiet": muted,
        "state-good": known["success"],
        "state-warning": known["warning"],
        "state-bad": known["error"],
        "bar": known["accent"],
        "text-soft": foreground.blend(background, 0.2, alpha=1),
        "json-key": known["primary"],
        "json-string": known["success"],
        "json-number": known["warning"],
        "json-punct": muted,
    }
    return {
        **{name: _readable(colour, background, cursor).hex for name, colour in colours.items()},
        "rule": background.blend(foreground, 0.25, alpha=1).hex,
        "cursor": cursor.hex,
    }


def _readable(colour: Color, background: Color, cursor: Color) -> Color:
    """Blend the colour with black or white until it is readable on both backgrounds."""
    extreme = background.get_contrast_text(1.0)
    shades = (colour.blend(extreme, step / 20, alpha=1) for step in range(20))
    return next(
        (shade for shade in shades if min(contrast(shade, background), contrast(shade, cursor)) > READABLE), extreme
    )
