"""What a soul can do."""
