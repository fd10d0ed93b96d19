"""Search of all messages of all sessions: an SQLite index of the journals, and the passages that it finds."""
