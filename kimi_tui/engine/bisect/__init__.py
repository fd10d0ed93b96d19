"""Search for the step that changed the result of a command."""
