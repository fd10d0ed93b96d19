"""Origins of lines: which recorded change wrote each line of a file."""
