"""Scenarios: what an agent does for a message, written down in a TOML file."""
