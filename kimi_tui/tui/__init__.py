"""The full-screen app. It knows only the Wire."""
