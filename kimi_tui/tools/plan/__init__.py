"""Plan mode: reading alone until the user has approved a plan."""
