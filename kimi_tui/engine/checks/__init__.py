"""Checks of a session's steps with the configured command."""
