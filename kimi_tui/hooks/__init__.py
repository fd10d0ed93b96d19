"""Hooks: the user's commands and a client's subscriptions that run on session events."""
