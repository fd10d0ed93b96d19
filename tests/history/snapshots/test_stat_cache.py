"""A saved stat cache is read as it was, and saving it leaves its directories packed."""

from pathlib import Path

import pytest

from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM
from kimi_tui.history.snapshots.chunked_json import MAX_ITEMS
from kimi_tui.history.snapshots.stat_cache import (
    CachedFolder,
    StatCache,
    StatKey,
    key_of_folder,
    load_stat_cache,
    save_stat_cache,
)

FOLDER_MODE = 0o40755
FILE_MODE = 0o100644


def keys_of(count: int) -> dict[str, StatKey]:
    """Return the keys of a subdirectory and of `count` files."""
    files = {f"é{number}": (number, 2**40, number, 2**63, FILE_MODE) for number in range(count)}
    return {"sub": key_of_folder(FOLDER_MODE), **files}


def new_cache() -> StatCache:
    """Return a cache whose directories are packed."""
    cache = StatCache(rules="rules")
    cache.folders = {
        "": CachedFolder(keys_of(3), frozenset({"ignored", ".git"})),
        "sub": CachedFolder(),
        "large": CachedFolder(keys_of(MAX_ITEMS + 1)),
    }
    cache.pack()
    return cache


@pytest.mark.parametrize("is_packed", [True, False])
def test_it_is_read_as_it_was_saved(tmp_path: Path, is_packed: bool) -> None:
    cache = new_cache()
    if not is_packed:
        for folder in cache.folders.values():
            folder.keys["racy"] = ()  # has to be read again
    save_stat_cache(LOCAL_FILE_SYSTEM, tmp_path / "known", cache, "state:0")
    loaded = load_stat_cache(tmp_path / "known")
    assert loaded is not None
    assert (loaded[0].rules, loaded[1]) == ("rules", "state:0")
    saved = {path: (folder.keys, folder.skipped) for path, folder in cache.folders.items()}
    assert {path: (folder.keys, folder.skipped) for path, folder in loaded[0].folders.items()} == saved


def test_its_directories_stay_packed_when_it_is_saved(tmp_path: Path) -> None:
    cache = new_cache()
    save_stat_cache(LOCAL_FILE_SYSTEM, tmp_path / "known", cache, "state:0")
    folder = cache.folders["large"]
    found = keys_of(MAX_ITEMS + 1)
    assert folder.read_keys() == found
    found["sub"] = (1, 2, 3, 4, FOLDER_MODE)  # as a scan finds it
    assert folder.unchanged_folders([*found], [*found.values()]) == ["sub"]  # None if it isn't packed
    assert folder.keys
    assert folder.unchanged_folders([*found], [*found.values()]) is None
