"""Running shell commands."""
