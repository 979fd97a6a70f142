"""Webhooks: registrations, what came for them, and why nothing does."""
