"""What a soul can do (`specs/tools.md`)."""
