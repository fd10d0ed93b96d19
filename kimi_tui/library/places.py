"""Where a project's own files are looked for."""

from pathlib import Path


def folders_up(work_dir: Path) -> tuple[Path, ...]:
    """From the work dir up to the repository's root; the work dir alone outside a repository."""
    folders = (work_dir, *work_dir.parents)
    root = next((index for index, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    return folders[: root + 1]
