"""The conversation pane: one virtualised scroll view over typed blocks."""
