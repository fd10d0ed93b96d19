"""Conversation pane: a virtualized scroll view of typed blocks."""
