"""Text of the engine's replies, for front ends without dialogs."""
