"""`kimi-tui import`: imports config, MCP servers, input history, sessions and skills from Kimi CLI."""

from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.cli.commands.runner import print_line
from kimi_tui.cli.kimi_cli.importer import ImportReport, import_all
from kimi_tui.cli.run_paths import ensure_data_dir
from kimi_tui.history.kimi_cli.data_dir import default_data_dir, open_data_dir

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def import_(
    path: Annotated[
        Path | None, typer.Argument(metavar="PATH", help="Data directory of Kimi CLI. Default: ~/.kimi.")
    ] = None,
) -> int:
    """Import config, MCP servers, history, sessions and skills from Kimi CLI.

    Files are copied; skills are used in place. The originals aren't changed, and nothing is overwritten.
    Tokens aren't copied. The report lists where to sign in again.
    """
    kimi_cli_dir = open_data_dir(path) if path is not None else default_data_dir()
    if kimi_cli_dir is None:
        raise UsageError(
            "No data directory of Kimi CLI at ~/.kimi.", hint="Give its path: kimi-tui import PATH."
        )
    report = import_all(kimi_cli_dir, ensure_data_dir())
    print_report(report)
    return 1 if report.problems else 0


def print_report(report: ImportReport) -> None:
    """Print the report of an import."""
    for line in report.imported:
        print_line(f"+ {line}")
    if not report.imported and not report.problems:
        print_line("Nothing new to import.")
    for line in (*report.notes, *report.follow_ups):
        print_line(line)
    for line in report.problems:
        print_line(msg("Problem: {problem}", problem=line))
