"""Agent Client Protocol (ACP): serves sessions to editors over standard input and output."""
