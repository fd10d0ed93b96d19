"""Stored conversations and sessions: journal, context, session state (`docs/formats.md`)."""
