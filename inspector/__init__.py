"""a2a-inspect: an inspector for Agent2Agent (A2A) agents."""

__version__ = "0.1.0"
