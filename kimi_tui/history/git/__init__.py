"""Changes of a working directory's Git repository: which there were, and how to restore it. Never written."""
