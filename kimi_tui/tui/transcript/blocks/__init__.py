"""Blocks of the conversation, one kind per module."""
