"""The built-in scenarios: one TOML file each, and the files that they send."""
