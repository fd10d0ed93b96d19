"""Skills of Kimi CLI. `~/.kimi/skills` is read in place; other directories are added to
`extra_skill_dirs`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.items import Array

from kimi_tui.config.loader import user_config_path
from kimi_tui.config.toml_edit import edit_config

_SKILL_FILE = "SKILL.md"


def list_skills(kimi_cli_dir: Path) -> tuple[str, ...]:
    """Return the names of the skills in a data directory: its directories with a SKILL.md."""
    folder = kimi_cli_dir / "skills"
    return tuple(
        sorted(
            entry.name
            for entry in (folder.iterdir() if folder.is_dir() else ())
            if (entry / _SKILL_FILE).is_file()
        )
    )


def link_skills(kimi_cli_dir: Path, kimi_cli_config: dict[str, Any], data_dir: Path) -> tuple[str, ...]:
    """Add Kimi CLI's skill directories that aren't read automatically to our config. Return them.

    `kimi_cli_config` is the content of Kimi CLI's config. Raises ConfigError.
    """
    directories = list(_extra_skill_dirs(kimi_cli_dir, kimi_cli_config))
    added: list[str] = []

    def add(document: TOMLDocument) -> None:
        known = document.get("extra_skill_dirs")
        if not isinstance(known, Array):
            known = document["extra_skill_dirs"] = tomlkit.array()
        for folder in directories:
            if folder not in known:
                known.append(folder)
                added.append(folder)

    if directories:
        edit_config(user_config_path(data_dir), add)
    return tuple(added)


def _extra_skill_dirs(kimi_cli_dir: Path, kimi_cli_config: dict[str, Any]) -> Iterator[str]:
    if list_skills(kimi_cli_dir) and not is_default_data_dir(kimi_cli_dir):
        yield str(kimi_cli_dir / "skills")
    listed = kimi_cli_config.get("extra_skill_dirs")
    yield from (folder for folder in (listed if isinstance(listed, list) else ()) if isinstance(folder, str))


def is_default_data_dir(kimi_cli_dir: Path) -> bool:
    """Return whether it is `~/.kimi`, where skills are read automatically."""
    return kimi_cli_dir == Path("~/.kimi").expanduser()
