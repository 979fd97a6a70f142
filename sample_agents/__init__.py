"""The built-in mock agent: an A2A agent that runs scenarios and makes mistakes on demand."""
