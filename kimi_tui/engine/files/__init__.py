"""File snapshots of a session."""
