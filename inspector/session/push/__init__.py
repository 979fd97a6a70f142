"""Webhooks: registrations, deliveries, their comparison with streams, and the diagnosis of missing deliveries."""
