"""What a command did in a workspace before it was allowed. Not in kimi-cli."""

from typing import Literal

from kimi_tui.base.frozen import frozen

FileEffectKind = Literal["create", "modify", "delete", "attributes", "git"]
"""`attributes`: only the mode or owner changes. `git`: files in a git directory, all together."""


@frozen
class FileEffect:
    """What happens to a file or directory if the effects are committed."""

    path: str
    """Relative to the working directory if it is in it, otherwise absolute."""
    kind: FileEffectKind
    added_lines: int | None = None
    """None if the lines weren't counted."""
    removed_lines: int | None = None
    conflict: str = ""
    """Why the file is left alone: it changed since the command saw it. Empty if it isn't."""


@frozen(kw_only=True)
class CommandEffects:
    """Result of a command that has run in a workspace. Diffs are in the request's display blocks."""

    exit_code: int
    """As in `subprocess`: negative for a signal."""
    timed_out: bool = False
    output: str = ""
    """The end of the output."""
    n_hidden_lines: int = 0
    """How many lines of output came before."""
    files: tuple[FileEffect, ...] = ()
    n_more_files: int = 0
    """How many more files are changed than `files` lists."""
    network_attempts: int = 0
    """Number of failed attempts of the command to reach the network."""
    secrets: tuple[str, ...] = ()
    """Files that are likely to contain secrets, and that the command has read."""
