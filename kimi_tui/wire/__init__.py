"""The Wire: the one vocabulary between the engine and every front end (`docs/formats.md`)."""
