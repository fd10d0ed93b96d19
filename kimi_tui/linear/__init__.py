"""Linear mode: prints the session line by line, for screen readers and plain terminals."""
