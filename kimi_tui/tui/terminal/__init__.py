"""Terminal input and output. Everything that uses Textual's private API is here."""
