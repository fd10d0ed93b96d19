"""Search of the messages of all sessions with an SQLite index of the journals."""
