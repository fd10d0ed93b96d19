"""Directories in which a project's own files are searched."""

from pathlib import Path


def parent_dirs(work_dir: Path) -> tuple[Path, ...]:
    """Return the directories from the working directory up to the root of its repository.

    Outside a repository, only the working directory.
    """
    folders = (work_dir, *work_dir.parents)
    root = next((index for index, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    return folders[: root + 1]
