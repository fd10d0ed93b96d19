"""Command line of this program, for child processes."""

import sys

PROGRAM = (sys.executable, "-P", "-m", "kimi_tui")
"""Start of a command line. With -P, the files of a working directory aren't imported as modules."""
