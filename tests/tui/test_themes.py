"""Themes and glyphs: built-in themes are readable, user themes are validated."""

from __future__ import annotations

import itertools
import math
import tomllib
from pathlib import Path

import pytest
import wcwidth
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme
from textual.widgets import (
    Button,
    Checkbox,
    Collapsible,
    DataTable,
    Footer,
    Header,
    Input,
    ListItem,
    ListView,
    Markdown,
    OptionList,
    ProgressBar,
    RadioSet,
    RichLog,
    Select,
    SelectionList,
    Static,
    Switch,
    TabbedContent,
    TabPane,
    TextArea,
    Tree,
)

from inspector.findings.finding import Severity
from inspector.protocol.lifecycle import State
from inspector.tui.render.glyphs import ASCII, UNICODE, Glyphs
from inspector.tui.themes import MEANINGS, READABLE, contrast, fallback_variables, load_themes, parse_theme

SHIPPED, PROBLEMS = load_themes()
TRUE_COLOUR = [theme for theme in BUILTIN_THEMES.values() if not theme.ansi]
GROUNDS = ["background", "surface", "panel", "cursor"]
TEXTS = ["foreground", "text-soft", *(name for name in MEANINGS if name not in {"rule", "cursor", "bar"})]
DUSK = """
dark = true
[palette]
primary = "#62cbd6"
secondary = "#8a9bbd"
accent = "#62cbd6"
foreground = "#dfe4ee"
background = "#14171d"
surface = "#191d25"
panel = "#20252f"
success = "#8fe8c0"
warning = "#f2da4e"
error = "#f8727c"
[meaning]
""" + "\n".join(f'{name} = "#abcdef"' for name in MEANINGS)


def colours(theme: Theme) -> dict[str, Color]:
    """Return the plain colours among the CSS variables of a theme."""
    values = {**fallback_variables(theme), **theme.to_color_system().generate(), **theme.variables}
    return {name: Color.parse(value) for name, value in values.items() if value.startswith("#")}


def ids(theme: Theme) -> str:
    return theme.name


def test_the_built_in_themes_are_dusk_and_paper_and_have_no_problems():
    assert [theme.name for theme in SHIPPED] == ["dusk", "paper"]
    assert [theme.dark for theme in SHIPPED] == [True, False]
    assert PROBLEMS == []


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.48), ("#767676", "#ffffff", 4.54), ("#f00", "#f00", 1.0)],
)
def test_contrast_follows_wcag(one, other, ratio):
    assert contrast(Color.parse(one), Color.parse(other)) == pytest.approx(ratio, abs=0.01)
    assert contrast(Color.parse(other), Color.parse(one)) == contrast(Color.parse(one), Color.parse(other))


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("theme", SHIPPED, ids=ids)
def test_every_text_of_a_built_in_theme_is_readable_on_every_background(theme, ground):
    seen = colours(theme)
    faint = {name: round(ratio, 2) for name in TEXTS if (ratio := contrast(seen[name], seen[ground])) < READABLE}
    assert faint == {}


@pytest.mark.parametrize("theme", SHIPPED, ids=ids)
def test_texts_of_textual_are_readable_in_a_built_in_theme(theme):
    seen = colours(theme)
    pairs = {
        "footer-key-foreground": "footer-background",
        "footer-description-foreground": "footer-background",
        "block-cursor-foreground": "block-cursor-background",
        "block-cursor-blurred-foreground": "block-cursor-blurred-background",
        "foreground-muted": "background",
        "markdown-h1-color": "background",
        "markdown-h6-color": "background",
        "input-cursor-foreground": "input-cursor-background",
    }
    for text, ground in pairs.items():
        assert contrast(seen[ground] + seen[text], seen[ground]) >= READABLE, text
    selected = seen["surface"] + seen["input-selection-background"]
    assert contrast(seen["foreground"], selected) >= READABLE


@pytest.mark.parametrize("theme", SHIPPED, ids=ids)
def test_the_bar_stands_out_and_the_rule_stays_thin(theme):
    seen = colours(theme)
    for ground in GROUNDS:
        assert contrast(seen["bar"], seen[ground]) >= 3  # WCAG 2.2, 1.4.11
    assert 1.3 <= contrast(seen["rule"], seen["background"]) <= 3


# Machado, Oliveira and Fernandes 2009, severity 1.0, for linear RGB.
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def lab(colour: Color, vision: str) -> tuple[float, float, float]:
    """Return a colour in CIE Lab as seen with a kind of colour vision."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    red, green, blue = (
        min(1.0, max(0.0, sum(weight * part for weight, part in zip(row, linear, strict=True))))
        for row in VISION[vision]
    )
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", SHIPPED, ids=ids)
def test_directions_and_verdicts_differ_for_every_kind_of_colour_vision(theme, vision):
    seen = colours(theme)
    for group in (("wire-sent", "wire-received", "wire-pushed"), ("state-good", "state-warning", "state-bad")):
        for one, other in itertools.combinations(group, 2):
            # 2.3 is the least difference that people notice side by side.
            assert math.dist(lab(seen[one], vision), lab(seen[other], vision)) >= 20, (one, other)


@pytest.mark.parametrize("theme", SHIPPED, ids=ids)
def test_one_colour_has_one_meaning(theme):
    signals = [theme.variables[name] for name in MEANINGS if name.startswith(("wire-", "state-", "bar"))]
    assert len(set(signals)) == len(signals)


@pytest.mark.parametrize("theme", BUILTIN_THEMES.values(), ids=ids)
def test_themes_of_textual_get_a_colour_for_every_meaning(theme):
    fallback = fallback_variables(theme)
    assert fallback.keys() == MEANINGS.keys()
    assert len({fallback[name] for name in ("wire-sent", "wire-received", "wire-pushed")}) == 3
    assert len({fallback[name] for name in ("state-good", "state-warning", "state-bad")}) == 3


@pytest.mark.parametrize("theme", TRUE_COLOUR, ids=ids)
def test_fallback_colours_for_themes_of_textual_are_readable(theme):
    seen = {name: Color.parse(value) for name, value in fallback_variables(theme).items()}
    ground = Color.parse(theme.to_color_system().generate()["background"])
    for name in TEXTS[1:]:
        assert contrast(seen[name], ground) >= READABLE, name
        assert contrast(seen[name], seen["cursor"]) >= READABLE, name


class Everything(App[None]):
    """An app that uses all CSS variables of a2a-inspect, and the variables of Textual in its widgets."""

    CSS = "\n".join(
        f".{name} {{ {'background' if name == 'cursor' else 'color'}: ${name}; border: solid ${name}; }}"
        for name in MEANINGS
    )

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return fallback_variables(self.current_theme)

    def compose(self) -> ComposeResult:
        yield Header()
        yield from (Static(name, classes=name) for name in MEANINGS)
        yield from (Button("b", "primary"), Button("b", "error"), Checkbox("c"), Switch(), RadioSet("a", "b"))
        yield from (Input("i"), TextArea("t"), Select([("s", 1)]), SelectionList(("s", 1)), OptionList("o"))
        yield from (DataTable(), Tree("t"), ListView(ListItem(Static("l"))), RichLog(), ProgressBar(total=3))
        yield Markdown("# h\n## h\n### h\n#### h\n##### h\n###### h\n[l](https://example.org)\n> q\n```py\nx = 1\n```")
        with TabbedContent(), TabPane("t"):
            yield Collapsible(Static("c"), title="c")
        yield Footer()


async def test_every_theme_can_be_selected_and_defines_all_css_variables():
    app = Everything()
    for theme in SHIPPED:
        app.register_theme(theme)
    async with app.run_test() as pilot:
        for name, theme in app.available_themes.items():
            app.theme = name
            await pilot.pause()
            expected = {**fallback_variables(theme), **theme.variables}
            for meaning in MEANINGS:
                styles = app.query_one(f".{meaning}").styles
                colour = styles.background if meaning == "cursor" else styles.color
                assert colour == Color.parse(expected[meaning]), (name, meaning)


async def test_a_theme_that_sets_every_textual_variable_can_be_selected():
    document = tomllib.loads(DUSK)
    bare, problems = parse_theme("bare", document)
    assert bare is not None, problems
    names = bare.to_color_system().generate()
    document["variables"] = {name: "bold underline" if "-style" in name else "#123456" for name in names}
    theme, problems = parse_theme("full", document)
    assert theme is not None, problems
    app = Everything()
    app.register_theme(theme)
    async with app.run_test() as pilot:
        app.theme = "full"
        await pilot.pause()
        assert app.query_one(Footer).styles.background == Color.parse("#123456")
        assert app.query_one(".bar").styles.color == Color.parse("#abcdef")


def test_themes_have_the_names_of_their_files(tmp_path: Path):
    (tmp_path / "night.toml").write_text(DUSK)
    (tmp_path / "dusk.toml").write_text(DUSK)
    (tmp_path / "notes.txt").write_text("not a theme")
    themes, problems = load_themes(tmp_path)
    assert problems == []
    assert [theme.name for theme in themes] == ["dusk", "night"]
    assert themes[0].variables["bar"] == "#ABCDEF"


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("dark = true", "", "`dark` must be true or false."),
        ("dark = true", "dark = 1", "`dark` must be true or false."),
        ("dark = true", "dark = true\nlight = false", "`light` is unknown."),
        ('primary = "#62cbd6"', "", "`palette.primary` is missing."),
        ('primary = "#62cbd6"', 'primary = "#62cbd"', "`palette.primary` is not a colour: '#62cbd'."),
        ('primary = "#62cbd6"', "primary = 7", "`palette.primary` is not a colour: 7."),
        ('primary = "#62cbd6"', 'primary = "auto"', "`palette.primary` is not a colour: 'auto'."),
        ('primary = "#62cbd6"', 'primary = "ansi_red"', "`palette.primary` is not a colour: 'ansi_red'."),
        ('primary = "#62cbd6"', 'primary = "#62cbd680"', "`palette.primary` must be opaque: '#62cbd680'."),
        ("[palette]", '[palette]\nprimray = "#fff"', "`palette.primray` is unknown."),
        ('cursor = "#abcdef"', "", "`meaning.cursor` is missing."),
        ('cursor = "#abcdef"', 'cursor = "$primary"', "`meaning.cursor` is not a colour: '$primary'."),
        ('cursor = "#abcdef"', 'cursor = "red; } * { display: none"', "`meaning.cursor` is not a colour"),
        ("[meaning]", '[meaning]\nwire-lost = "#fff"', "`meaning.wire-lost` is unknown."),
        ("[palette]", "[[palette]]", "`palette` must be a table."),
        ("dark = true", 'dark = true\nvariables = "x"', "`variables` must be a table."),
        ("[meaning]", '[variables]\nborder = "solid red"\n[meaning]', "`variables.border` is not a colour"),
        ("[meaning]", '[variables]\nboredr = "red"\n[meaning]', "`variables.boredr` is not a Textual variable."),
        ("[meaning]", '[variables]\nlink-style = "blod"\n[meaning]', "`variables.link-style` is not a text style"),
        ("[meaning]", '[variables]\nlink-style = ""\n[meaning]', "`variables.link-style` is not a text style"),
        ("[meaning]", "[variables]\nlink-style = []\n[meaning]", "`variables.link-style` is not a text style"),
        ("dark = true", "dark = ", "The file is not TOML:"),
        ("dark = true", "dark = true\ndark = true", "The file is not TOML:"),
        ("dark = true", "x = " + "[" * 100_000, "The file is not TOML:"),
    ],
)
def test_a_theme_with_a_mistake_is_skipped_and_the_mistake_is_reported(tmp_path: Path, before, after, sentence):
    assert DUSK.count(before) == 1
    (tmp_path / "mine.toml").write_text(DUSK.replace(before, after))
    themes, problems = load_themes(tmp_path)
    assert themes == []
    assert [problem.file for problem in problems] == ["mine.toml"]
    assert problems[0].sentence.startswith(sentence)


def test_all_mistakes_of_a_file_are_reported_together():
    theme, problems = parse_theme("Über", {"palette": {"primary": "x"}})
    assert theme is None
    assert len(problems) == 1 + 1 + 10 + len(MEANINGS)


def test_a_file_that_cannot_be_read_is_a_problem_and_the_others_are_loaded(tmp_path: Path):
    (tmp_path / "a.toml").write_bytes(b'dark = "\xff"')
    (tmp_path / "b.toml").mkdir()
    (tmp_path / "c.toml").symlink_to(tmp_path / "gone")
    (tmp_path / "d.toml").write_text(DUSK)
    themes, problems = load_themes(tmp_path)
    assert [theme.name for theme in themes] == ["d"]
    assert [problem.file for problem in problems] == ["a.toml", "b.toml", "c.toml"]


@pytest.mark.parametrize("value", ["rgb(999, 0, 0)", "hsl(900, 300%, 50%)", "rgba(1, 2, 3, 7)", "RED", " red ", "#ABC"])
def test_every_colour_is_normalised_to_six_digits_or_reported(value):
    document = tomllib.loads(DUSK)
    document["meaning"]["bar"] = value
    theme, problems = parse_theme("mine", document)
    assert (theme is None) == bool(problems)
    if theme is not None:
        assert len(theme.variables["bar"]) == 7
        assert Color.parse(theme.variables["bar"]).a == 1


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=9), inside, max_size=3),
)


@given(
    name=st.text(max_size=9),
    document=st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("dark", "palette", "meaning", "variables", "x"), json_like)
    ),
)
def test_every_document_results_in_a_theme_or_a_message(name, document):
    theme, problems = parse_theme(name, document)
    assert (theme is None) == bool(problems)


def signs(glyphs: Glyphs) -> list[str]:
    """Return all glyphs of a set."""
    single = [value for name in glyphs.__slots__ if isinstance(value := getattr(glyphs, name), str)]
    return [*"".join(single), *glyphs.states.values(), *glyphs.severities.values()]


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_every_glyph_is_one_cell_wide_and_has_one_meaning(glyphs):
    assert [sign for sign in signs(glyphs) if (cell_len(sign), wcwidth.wcswidth(sign)) != (1, 1)] == []
    assert glyphs.states.keys() == set(State)
    assert glyphs.severities.keys() == set(Severity)
    for group in (
        [glyphs.sent, glyphs.received, glyphs.pushed, glyphs.quiet, glyphs.poll],
        list(glyphs.states.values()),
        list(glyphs.severities.values()),
    ):
        assert len(set(group)) == len(group)
    assert glyphs.moving[0] == glyphs.states[State.WORKING]


def test_the_replacement_glyphs_are_ascii():
    assert "".join(signs(ASCII)).isascii()


def test_an_unknown_state_is_a_question_mark():
    assert UNICODE.state_glyph("TASK_STATE_COMPLETED") == "●"
    assert UNICODE.state_glyph(State.FAILED) == "✕"
    assert UNICODE.state_glyph("TASK_STATE_DREAMING") == UNICODE.state_glyph("") == "?"
