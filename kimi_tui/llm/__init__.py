"""Chat providers: one vocabulary over every model (`specs/cli.md`, Models)."""
