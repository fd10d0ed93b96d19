"""Agent specs in YAML and the prompts they render (`docs/agents.md`)."""
