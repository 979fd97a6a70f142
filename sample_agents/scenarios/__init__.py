"""The scenarios that ship: one TOML file each, and the files that they give away."""
