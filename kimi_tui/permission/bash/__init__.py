"""Parser for bash command lines."""
