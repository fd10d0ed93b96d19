"""MCP servers of a session, with their tools, prompts and resources."""
