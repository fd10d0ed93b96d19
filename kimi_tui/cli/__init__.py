"""Command line: parses options, starts a front end and sets the exit code."""
