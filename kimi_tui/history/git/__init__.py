"""Changes of a working directory's Git repository, and commands to undo them. Only reads the repository."""
