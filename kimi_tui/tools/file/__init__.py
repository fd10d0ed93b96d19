"""Reading and changing files."""
