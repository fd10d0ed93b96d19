"""Strategies that shorten a conversation (`docs/compaction.md`)."""
