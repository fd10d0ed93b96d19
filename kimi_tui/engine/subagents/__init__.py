"""Sub-agents: souls that work on a delegated task with the permissions of the delegating agent."""
