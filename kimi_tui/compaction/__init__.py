"""Strategies that shorten a conversation (`specs/compaction.md`)."""
