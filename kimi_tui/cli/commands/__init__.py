"""Subcommands, one module each. They work on files, without opening a session."""
