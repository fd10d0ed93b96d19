"""The MCP servers of a session: their tools, prompts and resources in the places where a session has such."""
