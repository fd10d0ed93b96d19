"""What was left open in the share dir is closed; nothing else is touched."""

import stat
from pathlib import Path

from kimi_tui.base.private_share import take_rights_from_others


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_ours_is_for_the_owner_alone(tmp_path: Path) -> None:
    folders, files = ("sessions", "credentials", "drafts"), ("config.toml", "credentials.json", "mcp.json")
    for name in folders:
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o755)
    for name in files:
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o664)
    take_rights_from_others(tmp_path)
    found = {path.name: mode(path) for path in tmp_path.iterdir()}
    assert found == dict.fromkeys(folders, 0o700) | dict.fromkeys(files, 0o600)


def test_links_other_files_and_the_folder_itself_stay(tmp_path: Path) -> None:
    share, elsewhere = tmp_path / "share", tmp_path / "config-of-a-repository"
    share.mkdir()
    share.chmod(0o755)
    for file in (elsewhere, share / "notes.txt"):
        file.write_text("")
        file.chmod(0o644)
    (share / "config.toml").symlink_to(elsewhere)
    take_rights_from_others(share)
    take_rights_from_others(tmp_path / "gone")
    assert (mode(share), mode(elsewhere), mode(share / "notes.txt")) == (0o755, 0o644, 0o644)
