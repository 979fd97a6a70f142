"""A view is added by one module and one registry entry: tabs, keys and palette follow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_VIEW = """
from textual.widgets import Static
from inspector.tui.views.base import View

class ClockView(View):
    def compose(self):
        yield Static(f"records: {len(self.session.journal.capture)}")
"""

_RUN = """
import asyncio, sys
from inspector.tui.views.registry import VIEWS, ViewEntry
VIEWS.append(ViewEntry("clock", "Clock", "clock_view:ClockView"))
from inspector.options import Options
from inspector.tui.app import InspectorApp

def lines(app):
    return ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]

async def main():
    app = InspectorApp(Options(demo=True))
    async with app.run_test(size=(120, 40)) as pilot, asyncio.timeout(60):
        while app.session is None or app.session.connection is None:
            await asyncio.sleep(0.02)
        await pilot.pause()
        await pilot.press("8")
        await pilot.pause()
        assert "8 Clock" in lines(app)[1], lines(app)[1]
        assert any("records: " in line for line in lines(app)), lines(app)
        assert "Go to Clock" in [command.title for command in app.get_system_commands(app.screen)]
        await pilot.press("f1")
        await pilot.pause()
        assert any("Go to Clock" in line for line in lines(app)), lines(app)

asyncio.run(main())
"""


def test_a_view_is_added_by_a_module_and_a_registry_entry(tmp_path: Path):
    (tmp_path / "clock_view.py").write_text(_VIEW)
    environment = {"PYTHONPATH": str(tmp_path), "A2A_INSPECT_HOME": str(tmp_path / "home"), "PATH": "", "TERM": "xterm"}
    ran = subprocess.run(
        [sys.executable, "-c", _RUN], env=environment, check=False, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
