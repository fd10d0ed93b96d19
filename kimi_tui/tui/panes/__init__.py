"""Panes next to the conversation."""
