"""Options to settings; picks one front end; exit codes."""
