"""Sub-agents: souls that work on a task of their own, with the rights of the agent that gave it."""
