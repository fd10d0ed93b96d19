"""Attempts: runs from one checkpoint, side by side in workspaces."""
