"""The authorization server of the agent: OAuth 2.0 and OpenID Connect for one client."""
