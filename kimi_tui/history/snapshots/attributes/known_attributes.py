"""The unusual attributes of a project's files, and those that have changed since the last record."""

from collections.abc import Mapping

from kimi_tui.history.snapshots.attributes.file_attributes import Attributes, FileAttributes


class KnownAttributes:
    """The unusual attributes of files and directories, even of those that no longer exist."""

    def __init__(self, attributes: Mapping[str, FileAttributes]) -> None:
        self.current = dict(attributes)
        """The attributes by path."""
        self.changed: dict[str, FileAttributes | None] = {}
        """The attributes that aren't recorded yet, by path."""

    @property
    def has_hard_links(self) -> bool:
        """Whether a file has several names."""
        return any(each.n_names > 1 for each in self.current.values())

    def note(self, attributes: Attributes) -> None:
        """Update the attributes of files that were read."""
        for path, each in attributes.items():
            if each == self.current.get(path):
                continue
            self.changed[path] = each
            if each is not None:
                self.current[path] = each
            else:
                del self.current[path]
