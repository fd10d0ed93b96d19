"""Chat providers: one vocabulary over every model."""
