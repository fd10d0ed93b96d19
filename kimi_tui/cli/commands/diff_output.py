"""Terminal output of file differences: comparisons, patches and previews of a revert."""

import shlex
import sys

import typer

from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.cli.commands.runner import print_line
from kimi_tui.engine.files.coverage import display_path
from kimi_tui.frontend.text.timeline import file_option_lines
from kimi_tui.history.snapshots.patch import Patch
from kimi_tui.i18n.translate import translate_message
from kimi_tui.wire.timeline import ComparedFile, Comparison, PlannedFile, Reverted, RevertPlan

_SIGNS = {"added": "A", "removed": "D", "changed": "M", "not covered": "?"}


def print_comparison(comparison: Comparison) -> None:
    """Print one line per changed file, with git's status letters. Notes go to stderr."""
    for file in comparison.files:
        print_line(f"{_SIGNS[file.change]} {_format_file(file)}")
    if comparison.note:
        typer.echo(translate_message(comparison.note), err=True)
    elif not comparison.files:
        print_line("No differences.")


def print_patch(patch: Patch) -> None:
    """Print the patch, as raw bytes unless stdout is a terminal. Omitted files go to stderr."""
    if sys.stdout.isatty():
        typer.echo(sanitize(patch.text.decode("utf-8", "replace")), nl=False)
    else:
        sys.stdout.buffer.write(patch.text)
    for path, why in patch.omitted:
        typer.echo(f"{sanitize_line(display_path(path))}: {translate_message(why)}", err=True)


def print_plan(plan: RevertPlan) -> None:
    """Print one line per file that a revert would change, and the commands it can't undo."""
    if plan.note or not plan.files:
        print_line(plan.note or "No files change.")
    for file in plan.files:
        print_line(f"{file.action:12} {_format_file(file)}")
        for line in file_option_lines(file):
            print_line(line)
    for remark in plan.remarks:
        print_line(remark)
    if plan.saved_in is not None and any(file.is_saved for file in plan.files):
        print_line(
            msg(
                "If you replace your version of a file, it is saved in checkpoint {number}. To read it: "
                "{show}; to restore it: {revert}",
                number=plan.saved_in,
                show=_show_command(plan.saved_in, "FILE"),
                revert=_restore_command(plan.saved_in, "FILE"),
            )
        )
    for command in plan.commands:
        print_line(msg("effects outside the working directory aren't reverted: $ {command}", command=command))


def print_saved_versions(reverted: Reverted) -> None:
    """Print where a revert has saved the user's versions of files, and how to restore them."""
    for path in reverted.saved:
        print_line(
            msg(
                "Your version of {path} is saved in checkpoint {number}. To read it: {show}; to restore it: "
                "{revert}",
                path=path,
                number=reverted.from_,
                show=_show_command(reverted.from_, path),
                revert=_restore_command(reverted.from_, path),
            )
        )


def print_content(content: bytes) -> None:
    """Print the content of a file, as raw bytes unless stdout is a terminal."""
    if sys.stdout.isatty():
        typer.echo(sanitize(content.decode("utf-8", "replace")), nl=False)
    else:
        sys.stdout.buffer.write(content)


def _show_command(checkpoint: int, path: str) -> str:
    return f"kimi-tui checkpoints show {checkpoint} {shlex.quote(path)}"


def _restore_command(checkpoint: int, path: str) -> str:
    return f"kimi-tui checkpoints revert {checkpoint} --scope files --only {shlex.quote(path)}"


def _format_file(file: ComparedFile | PlannedFile) -> str:
    note = f"  ({file.note})" if file.note else ""
    names = file.names if isinstance(file, PlannedFile) else file.path
    return f"{names}  +{file.added} −{file.removed}{note}"
