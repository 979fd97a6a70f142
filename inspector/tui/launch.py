"""Starting the app."""

from __future__ import annotations

from inspector.options import Options


def run(options: Options) -> int:
    """Run the inspector in this terminal until the user leaves it, and return its exit code."""
    from inspector.tui.app import InspectorApp  # noqa: PLC0415 - Textual is loaded when a screen is wanted

    app = InspectorApp(options)
    result = app.run()
    return result if result is not None else app.return_code or 0
