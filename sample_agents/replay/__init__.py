"""Serve a recording as an agent: `mock --capture FILE`."""
