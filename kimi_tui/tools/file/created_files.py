"""Files that the agents of a session have created."""

from collections.abc import Collection, Iterable
from pathlib import Path

from kimi_tui.workspaces.effects import PathEffect


class CreatedFiles:
    """The files and directories that the session's agents have created since it was opened."""

    def __init__(self) -> None:
        self._paths: set[Path] = set()

    @property
    def paths(self) -> frozenset[Path]:
        """The files, absolute, links resolved."""
        return frozenset(self._paths)

    def add(self, path: Path) -> None:
        """Record that an agent has created `path`."""
        self._paths.add(path)

    def record_commit(self, effects: Iterable[PathEffect], failed: Collection[str]) -> None:
        """Record which files a command has created or deleted, except for those that `failed`."""
        for effect in effects:
            if effect.path in failed:
                continue
            if effect.after is None:
                self._paths.discard(Path(effect.path))
            elif effect.before is None:
                self._paths.add(Path(effect.path))
