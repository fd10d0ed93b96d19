"""`kimi-tui trust`: the files of a project that configure kimi-tui, and whether you trust them."""

from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.cli.commands.runner import new_app, print_line
from kimi_tui.cli.run_paths import current_dir, ensure_data_dir
from kimi_tui.cli.trust_question import print_files, store_decision
from kimi_tui.config.loader import read_config
from kimi_tui.config.project_files import raw_skill_dirs
from kimi_tui.config.project_trust import ProjectTrust, ReviewedFile

app = new_app("Show and change which files of a project you trust.")

_Folder = Annotated[
    Path | None, typer.Argument(metavar="DIR", help="Directory of the project. Default: the current one.")
]


@app.command("list")
def list_(folder: _Folder = None) -> None:
    """List the project's settings, MCP servers, agents, commands and skills."""
    work_dir = _resolve(folder)
    reviewed = _review(work_dir)
    if reviewed:
        print_files(reviewed, work_dir=work_dir)
    else:
        print_line("No files here configure kimi-tui.")


@app.command()
def add(folder: _Folder = None) -> None:
    """Trust these files with their current content."""
    work_dir = _resolve(folder)
    reviewed = tuple(each for each in _review(work_dir) if each.status != "trusted")
    files = print_files(reviewed, work_dir=work_dir) if reviewed else ()
    if not files:
        print_line("Nothing to trust here.")
        return
    store_decision(files, data_dir=ensure_data_dir(), trusted=True)
    print_line(msg("Trusted: {count}. They apply to new sessions.", count=len(files)))


@app.command()
def remove(folder: _Folder = None) -> None:
    """Forget your decisions about files in a directory."""
    work_dir = _resolve(folder)
    try:
        count = ProjectTrust(ensure_data_dir()).forget(work_dir)
    except OSError as error:
        raise KimiTuiError(
            msg("Can't save your answer: {reason}.", reason=error.strerror or error),
            hint="Make the data directory writable, or set KIMI_SHARE_DIR.",
        ) from error
    print_line(msg("Decisions removed: {count}.", count=count))


def _review(work_dir: Path) -> tuple[ReviewedFile, ...]:
    data_dir = ensure_data_dir()
    config = read_config(data_dir=data_dir, work_dir=work_dir, lenient=True)
    return ProjectTrust(data_dir).review(work_dir, extra_skill_dirs=raw_skill_dirs(config.data))


def _resolve(folder: Path | None) -> Path:
    resolved = current_dir() if folder is None else folder.expanduser().resolve()
    if not resolved.is_dir():
        raise UsageError(msg("{path} isn't a directory.", path=folder), hint="Choose an existing directory.")
    return resolved
