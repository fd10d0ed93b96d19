"""The lines above and below the conversation."""
