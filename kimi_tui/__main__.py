"""Entry point of `python -m kimi_tui`."""

from kimi_tui.cli.main import run

run()
