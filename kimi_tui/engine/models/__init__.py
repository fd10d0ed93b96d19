"""Models of a session."""
