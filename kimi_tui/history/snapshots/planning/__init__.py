"""Plans of reverts: which of the agent's changes are undone, and how."""
