"""Key bindings and the user's keymap."""
