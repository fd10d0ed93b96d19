"""Agent files in YAML and the system prompts rendered from them (`docs/agents.md`)."""
