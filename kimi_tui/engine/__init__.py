"""The engine of a session: takes commands and sends events over the Wire."""
