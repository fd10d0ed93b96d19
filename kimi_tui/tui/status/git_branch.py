"""Current git branch, read from `.git` without running git."""

from pathlib import Path


def git_branch(work_dir: Path) -> str:
    """Return the branch name, or the first 8 digits of a detached HEAD.

    Returns an empty string outside a repository.
    """
    for directory in (work_dir, *work_dir.parents):
        marker = directory / ".git"
        try:
            if marker.is_dir():
                return _read_head(marker)
            if marker.is_file():
                return _read_head(
                    directory / marker.read_text("utf-8", "replace").partition("gitdir:")[2].strip()
                )
        except OSError:
            return ""
    return ""


def _read_head(git_dir: Path) -> str:
    with (git_dir / "HEAD").open(encoding="utf-8", errors="replace") as file:
        head = file.read(1000).strip()
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
