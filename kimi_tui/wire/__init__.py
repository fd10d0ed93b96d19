"""The Wire: the message protocol between the engine and its front ends (`docs/formats.md`)."""
