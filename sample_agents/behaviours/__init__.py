"""What a behaviour is, and behaviours that are written in code."""
