"""Data files of the program: styles, agents, prompts and languages.

In a wheel they lie under `kimi_tui/_assets/`; in a checkout they are read live from its top folders.
"""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


@cache
def asset_root() -> Path:
    """The folder that holds `styles/`, `agents/`, `prompts/` and `languages/`."""
    packaged = _PACKAGE / "_assets"
    return packaged if packaged.is_dir() else _PACKAGE.parent


def asset_path(*parts: str) -> Path:
    """The absolute path of an asset."""
    return asset_root().joinpath(*parts)


@cache
def read_asset(*parts: str) -> str:
    """The text of an asset."""
    return asset_path(*parts).read_text("utf-8")
