"""Recording of Wire messages, and replay of a session."""
