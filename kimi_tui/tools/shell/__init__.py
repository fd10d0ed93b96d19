"""Running commands in a shell."""
