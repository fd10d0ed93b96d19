"""The session as lines of words."""
