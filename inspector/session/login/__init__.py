"""Log in to an agent: OAuth 2.0 and OpenID Connect over the recorded HTTP client, tokens and where they are stored."""
