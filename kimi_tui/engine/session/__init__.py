"""Parts of a session: turns, modes, metadata, notices and the user's commands."""
