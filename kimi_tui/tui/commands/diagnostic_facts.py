"""Facts about the program and its terminal for bug reports."""

import os
import platform

from textual.geometry import Size

from kimi_tui.base.logging import log_path
from kimi_tui.tui.options import TuiOptions


def diagnostic_facts(options: TuiOptions, size: Size) -> tuple[tuple[str, str], ...]:
    """Return names and values. `size` is the terminal's, in cells."""
    terminal = f"{os.environ.get('TERM', '')} {os.environ.get('TERM_PROGRAM', '')}"
    return (
        ("kimi-tui", options.version),
        ("python", platform.python_version()),
        ("system", platform.platform()),
        ("terminal", f"{terminal.strip()}, {size.width}x{size.height}"),
        ("data directory", str(options.data_dir)),
        ("log", str(log_path(options.data_dir))),
    )
