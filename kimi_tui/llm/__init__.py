"""Chat providers: one protocol for every model."""
