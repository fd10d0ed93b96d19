"""Permissions in the data directory."""

import stat
from pathlib import Path

from kimi_tui.engine.session.data_dir_permissions import restrict_permissions


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_private_files_are_restricted_to_the_owner(tmp_path: Path) -> None:
    folders, files = ("sessions", "credentials", "drafts"), ("config.toml", "credentials.json", "mcp.json")
    for name in folders:
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o755)
    for name in files:
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o664)
    restrict_permissions(tmp_path)
    modes = {path.name: mode(path) for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys(folders, 0o700) | dict.fromkeys(files, 0o600)


def test_links_other_files_and_the_directory_itself_are_unchanged(tmp_path: Path) -> None:
    data_dir, link_target = tmp_path / "data", tmp_path / "config-of-a-repository"
    data_dir.mkdir()
    data_dir.chmod(0o755)
    for file in (link_target, data_dir / "notes.txt"):
        file.write_text("")
        file.chmod(0o644)
    (data_dir / "config.toml").symlink_to(link_target)
    restrict_permissions(data_dir)
    restrict_permissions(tmp_path / "missing")
    assert (mode(data_dir), mode(link_target), mode(data_dir / "notes.txt")) == (0o755, 0o644, 0o644)
