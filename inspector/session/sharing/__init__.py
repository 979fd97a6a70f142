"""Make copies of captures that are safe to share."""
