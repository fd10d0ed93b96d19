"""Plan mode: read-only until the user has approved a plan."""
