"""Agent specs in YAML and the prompts they render (`specs/tools.md`, Agents)."""
