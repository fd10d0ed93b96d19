"""The skills of Kimi CLI: those in `~/.kimi/skills` are read where they are; others are pointed at."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.items import Array

from kimi_tui.config.editing import edit_config
from kimi_tui.config.loading import user_config_path

_SKILL_FILE = "SKILL.md"


def skills_in(share: Path) -> tuple[str, ...]:
    """The names of the skills in the share dir, those that are folders with a SKILL.md."""
    folder = share / "skills"
    return tuple(
        sorted(
            entry.name
            for entry in (folder.iterdir() if folder.is_dir() else ())
            if (entry / _SKILL_FILE).is_file()
        )
    )


def point_at_skills(share: Path, theirs: dict[str, Any], share_dir: Path) -> tuple[str, ...]:
    """Add their folders of skills that aren't read by themselves to our config. Returns those.

    `theirs` is their config. Raises ConfigError.
    """
    wanted = list(_further_folders(share, theirs))
    added: list[str] = []

    def add(document: TOMLDocument) -> None:
        known = document.get("extra_skill_dirs")
        if not isinstance(known, Array):
            known = document["extra_skill_dirs"] = tomlkit.array()
        for folder in wanted:
            if folder not in known:
                known.append(folder)
                added.append(folder)

    if wanted:
        edit_config(user_config_path(share_dir), add)
    return tuple(added)


def _further_folders(share: Path, theirs: dict[str, Any]) -> Iterator[str]:
    if skills_in(share) and not is_usual(share):
        yield str(share / "skills")
    listed = theirs.get("extra_skill_dirs")
    yield from (folder for folder in (listed if isinstance(listed, list) else ()) if isinstance(folder, str))


def is_usual(share: Path) -> bool:
    """Whether it is `~/.kimi`, whose skills are read by themselves."""
    return share == Path("~/.kimi").expanduser()
