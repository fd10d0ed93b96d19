"""Differences between states of the files, printed: comparisons, patches, and plans of a jump."""

import sys

import typer

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.cli.commands.subcommands import say
from kimi_tui.engine.coverage import shown_path
from kimi_tui.history.snapshots.patch import Patch
from kimi_tui.language.saying import retell
from kimi_tui.wire.timeline import ComparedFile, Comparison, PlannedFile, RevertPlan

_SIGNS = {"added": "A", "removed": "D", "changed": "M", "not covered": "?"}


def print_comparison(comparison: Comparison) -> None:
    """A line for each file that differs, signed as git does; on stderr what the comparison leaves out."""
    for file in comparison.files:
        say(f"{_SIGNS[file.change]} {_told(file)}")
    if comparison.note:
        typer.echo(retell(comparison.note), err=True)
    elif not comparison.files:
        say("The files are the same.")


def print_patch(patch: Patch) -> None:
    """The patch, byte for byte unless a terminal shows it; on stderr what it leaves out."""
    if sys.stdout.isatty():
        typer.echo(plain(patch.text.decode("utf-8", "replace")), nl=False)
    else:
        sys.stdout.buffer.write(patch.text)
    for path, why in patch.left_out:
        typer.echo(f"{plain_line(shown_path(path))}: {retell(why)}", err=True)


def print_plan(plan: RevertPlan) -> None:
    """A line for each file that a jump would touch, and what it can't take back."""
    for file in plan.files:
        say(f"{file.action:12} {_told(file)}")
    if plan.note or not plan.files:
        say(plan.note or "No file would change.")
    for command in plan.commands:
        say(f"can't be taken back elsewhere: $ {command}")


def _told(file: ComparedFile | PlannedFile) -> str:
    note = f"  ({file.note})" if file.note else ""
    return f"{file.path}  +{file.added} −{file.removed}{note}"
