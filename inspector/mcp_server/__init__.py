"""The MCP server: tools with which a coding agent inspects A2A agents and captures."""
