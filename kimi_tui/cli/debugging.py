"""Whether the user wants to see what happens inside."""

import os


def is_debugging(*, asked: bool) -> bool:
    """Asked for by `--debug`, or by KIMI_DEBUG in the environment."""
    return asked or os.environ.get("KIMI_DEBUG", "") not in ("", "0")
