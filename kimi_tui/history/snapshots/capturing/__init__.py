"""Captures of the files: what changed since the last state, recorded with its author."""
