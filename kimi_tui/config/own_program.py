"""Command line and directories of this program, for child processes."""

import sys
from pathlib import Path

PROGRAM = (sys.executable, "-P", "-m", "kimi_tui")
"""Start of a command line. With -P, the files of a working directory aren't imported as modules."""


def find_program_folders() -> tuple[Path, ...]:
    """Return the directories that the command line reads: Python's, the packages', and this package's.

    The package is elsewhere than its environment in a checkout and after `pip install --user`.
    """
    package_parent = Path(__file__).parents[2]
    return tuple(path.resolve() for path in (Path(sys.prefix), Path(sys.base_prefix), package_parent))
