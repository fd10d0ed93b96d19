"""Effects of a command that ran in a workspace before it was allowed. Not in kimi-cli."""

from typing import Literal

from kimi_tui.base.frozen import frozen

FileEffectKind = Literal["create", "modify", "delete", "attributes", "git"]
"""`attributes`: only the mode or owner changes. `git`: all changes in a git directory, as one effect."""


@frozen
class FileEffect:
    """Change of a file or directory that committing the effects would make."""

    path: str
    """Relative for a path in the working directory, otherwise absolute."""
    kind: FileEffectKind
    added_lines: int | None = None
    """None if the lines weren't counted."""
    removed_lines: int | None = None
    conflict: str = ""
    """Why committing would skip the file: it changed after the command saw it. Empty without a conflict."""


@frozen(kw_only=True)
class CommandEffects:
    """Result of a command that has run in a workspace. Diffs are in the request's display blocks."""

    exit_code: int
    """As in `subprocess`: negative for a signal."""
    timed_out: bool = False
    output: str = ""
    """The end of the output."""
    n_hidden_lines: int = 0
    """Number of output lines before `output`."""
    files: tuple[FileEffect, ...] = ()
    n_more_files: int = 0
    """Number of changed files that `files` doesn't list."""
    network_attempts: int = 0
    """Number of failed attempts of the command to reach the network."""
    secrets: tuple[str, ...] = ()
    """Files read by the command that are likely to contain secrets."""
