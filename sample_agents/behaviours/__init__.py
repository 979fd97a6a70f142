"""Behaviours: what the agent does for a message, written in Python."""
