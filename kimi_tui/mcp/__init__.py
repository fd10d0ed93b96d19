"""Tools, resources and prompts of MCP servers. fastmcp is imported when the first server is connected."""
