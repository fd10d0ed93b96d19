"""Layers are removed, whatever commands put into them."""

import os
import subprocess
from pathlib import Path

from kimi_tui.workspaces.overlay.layer import remove_tree


def test_a_tree_without_permissions_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "layer"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "file").touch()
    (folder / "a" / "b").chmod(0)
    (folder / "a").chmod(0)
    remove_tree(str(folder))
    assert not folder.exists()


def test_a_tree_with_longer_paths_than_the_system_allows_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "layer"
    name = "folder" * 30
    deepen = (
        f'for n in $(seq 40); do mkdir "{name}"; cd "{name}"; done; touch leaf; cd ..; chmod 000 "{name}"'
    )
    folder.mkdir()
    subprocess.run(["bash", "-c", deepen], cwd=folder, check=True)
    remove_tree(str(folder))
    assert not folder.exists()


def test_a_tree_deeper_than_python_recurses_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "layer"
    folder.mkdir()
    _nest_folders(folder, levels=1_500)
    remove_tree(str(folder))
    assert not folder.exists()


def _nest_folders(folder: Path, *, levels: int) -> None:
    """Create directories in each other. Relative to descriptors: a shell's `cd` looks at the whole path."""
    parent = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=parent)
        child = os.open("d", os.O_RDONLY, dir_fd=parent)
        os.close(parent)
        parent = child
    os.close(parent)
