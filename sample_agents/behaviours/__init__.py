"""What the mock agent can do: one behaviour a file."""
