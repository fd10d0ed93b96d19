"""The branch that the work dir is on, read from `.git` without running git."""

from pathlib import Path


def git_branch(work_dir: Path) -> str:
    """The branch's name, the start of a detached commit's hash, or nothing outside a repository."""
    for folder in (work_dir, *work_dir.parents):
        marker = folder / ".git"
        try:
            if marker.is_dir():
                return _head(marker)
            if marker.is_file():
                return _head(folder / marker.read_text("utf-8", "replace").partition("gitdir:")[2].strip())
        except OSError:
            return ""
    return ""


def _head(git_dir: Path) -> str:
    with (git_dir / "HEAD").open(encoding="utf-8", errors="replace") as file:
        head = file.read(1000).strip()
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
