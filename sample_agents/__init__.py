"""The built-in mock agent."""
