"""Scenarios: what the agent does for a message, defined in TOML files."""
