"""Markdown as lines of a terminal: split while it streams, laid out to a width, coloured by role."""
