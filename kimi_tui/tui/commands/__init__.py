"""Slash commands: one registry for the prompt, the command palette and the help."""
