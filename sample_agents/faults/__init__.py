"""Faults: mistakes that the agent makes on demand, one function each."""
