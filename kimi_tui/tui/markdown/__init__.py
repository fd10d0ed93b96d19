"""Markdown for the terminal: incremental parsing, layout and syntax highlighting."""
