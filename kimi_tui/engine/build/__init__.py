"""Builders of a session's engine and its parts."""
