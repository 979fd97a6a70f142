"""What the agent can do wrong on purpose: named, one small function each."""
