"""A message on its way from what a person writes to a request."""
