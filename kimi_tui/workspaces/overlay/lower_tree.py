"""Files that an overlay shows below the layer that commands write to."""

import os
import stat
from collections.abc import Iterator

from kimi_tui.workspaces.effects import PathState


class LowerTree:
    """The files of a root, with those of a prepared layer over them if there is one. The methods block.

    All paths are those of the root, wherever a file is.
    """

    def __init__(self, root: str, prepared: str = "") -> None:
        self._root = root
        self._prepared = prepared

    def locate(self, path: str) -> str | None:
        """Return where the file or directory at `path` is; None if the layer hides it."""
        return path if path == self._root else next(self._places(path), None)

    def state(self, path: str) -> PathState | None:
        """Return the state of the file or directory at `path`; None if it doesn't exist."""
        return _state(place) if (place := self.locate(path)) is not None else None

    def names_in(self, path: str) -> list[str]:
        """Return the names in a directory, sorted; none if it isn't one."""
        names: dict[str, bool] = {}
        for place in self._places(path):
            for name in _names_in(place):
                is_hidden = place != path and is_whiteout(os.lstat(f"{place}/{name}"))
                names.setdefault(name, not is_hidden)
        return sorted(name for name, is_shown in names.items() if is_shown)

    def _places(self, path: str) -> Iterator[str]:
        """Yield where `path` is, the prepared layer first: a directory may be in both."""
        if not self._prepared:
            yield path
            return
        place, real, has_real = self._prepared, self._root, True
        for part in path[len(self._root) + 1 :].split("/") if path != self._root else ():
            place, real = f"{place}/{part}", f"{real}/{part}"
            try:
                info = os.lstat(place)
            except (FileNotFoundError, NotADirectoryError) as error:
                if has_real and isinstance(error, FileNotFoundError):
                    yield path
                return
            if is_whiteout(info):
                return
            has_real = has_real and stat.S_ISDIR(info.st_mode) and _is_folder(real)
        yield place
        if has_real:
            yield path


def is_whiteout(info: os.stat_result) -> bool:
    """Return whether an entry of a layer hides the one below it."""
    return stat.S_ISCHR(info.st_mode) and info.st_rdev == 0


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _state(path: str) -> PathState | None:
    try:
        return PathState.of(os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _names_in(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except (FileNotFoundError, NotADirectoryError):
        return []
