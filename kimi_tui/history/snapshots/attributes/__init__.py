"""Attributes of files besides content and mode: owner, number of names, extended attributes."""
