"""Print mode. It knows only the Wire."""
