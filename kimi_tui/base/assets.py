"""Data files of the program: styles, agents, prompts and languages.

A wheel has them in `kimi_tui/_assets/`. A checkout reads them from its top-level directories.
"""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


@cache
def asset_root() -> Path:
    """Return the directory that contains `styles/`, `agents/`, `prompts/` and `languages/`."""
    packaged = _PACKAGE / "_assets"
    return packaged if packaged.is_dir() else _PACKAGE.parent


def asset_path(*parts: str) -> Path:
    """Return the absolute path of an asset."""
    return asset_root().joinpath(*parts)


@cache
def read_asset(*parts: str) -> str:
    """Return the text of an asset."""
    return asset_path(*parts).read_text("utf-8")
