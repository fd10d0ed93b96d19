"""Tools, resources and prompts of MCP servers. What needs fastmcp is imported when a server is connected."""
