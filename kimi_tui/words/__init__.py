"""What front ends without dialogs tell of the engine's answers, in the user's language."""
