"""Make check files from recorded exchanges."""
