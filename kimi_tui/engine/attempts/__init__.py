"""Attempts: parallel runs from one checkpoint, each in its own workspace."""
