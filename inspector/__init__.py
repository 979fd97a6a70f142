"""a2a-inspect: an inspector for Agent2Agent (A2A) agents."""

__version__ = "0.1.0"
PROGRAM = "a2a-inspect"
"""The name of the program: as a command, of its folders, and in what it sends and exports."""
