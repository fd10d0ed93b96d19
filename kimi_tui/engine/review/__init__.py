"""Review of the agent's changes."""
