"""The directories a session works in, and the meaning of paths given to tools."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.frozen import frozen
from kimi_tui.tools.rooted_path import real_path
from kimi_tui.workspaces.sandbox.policy import Access

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


@frozen
class LocatedPath:
    """A file or directory that a tool was asked to use. It need not exist."""

    path: Path
    """Absolute and normalized, with symbolic links as written."""
    real: Path
    """Absolute, with symbolic links resolved."""
    display_path: str
    """As the model and the user see it (`PathScope.display_path`)."""
    display_path_with_target: str
    """For permission requests: `display_path`, followed by the target if links lead somewhere else."""
    is_inside: bool
    """Whether `real` is in the working directory or an added directory."""
    root: str = ""
    """Where this process finds the root directory that the paths belong to; empty for its own."""

    @property
    def host_path(self) -> Path:
        """Where this process finds `real`."""
        return Path(f"{self.root}{self.real}") if self.root else self.real

    @property
    def walk_start(self) -> Path:
        """Where this process finds `path`, links included if that is possible."""
        return self.host_path if self.root else self.path

    @property
    def is_current(self) -> bool:
        """Whether `path` still resolves to `real`."""
        return real_path(self.path, root=self.root) == str(self.real)


class PathBounds(Protocol):
    """Paths that may be read and changed, absolute and with links resolved."""

    def access_to(self, path: Path) -> Access:
        """Return the access to `path`."""
        ...

    def add_root(self, folder: Path) -> None:
        """Make `folder` writable, except for files in it that programs obey."""
        ...


class ViewRoot(Protocol):
    """A workspace that shows the directories below another root directory."""

    @property
    def root(self) -> str:
        """Where this process finds the view's root directory at the moment."""
        ...


@dataclass(slots=True)
class PathScope:
    """The working directory and the directories added to it."""

    work_dir: Path
    additional_dirs: tuple[Path, ...] = ()
    bounds: PathBounds | None = None
    """The sandbox, which tools obey as commands do; None without one."""
    view: ViewRoot | None = None
    """The view in which tools find the files; None for the real ones."""

    def add_dir(self, folder: Path) -> None:
        """Add a directory (absolute, links resolved)."""
        self.additional_dirs = (*self.additional_dirs, folder)
        if self.bounds is not None:
            self.bounds.add_root(folder)

    def locate(self, text: str) -> LocatedPath:
        """Resolve `text`: an absolute path, or one relative to the working or the home directory (`~`).

        Raises FileProblem if it is not a path, a relative path that leaves the scope, or hidden by the
        sandbox.
        """
        if not text.strip() or "\x00" in text:
            raise FileProblem(
                "The path is empty or contains a NUL character.", hint="Give the path of a file or directory."
            )
        try:
            os.fsencode(text)
        except UnicodeEncodeError as error:
            raise FileProblem(
                "The path contains half of a surrogate pair.", hint="Write the character itself."
            ) from error
        expanded = os.path.expanduser(text) if text.startswith("~") else text  # noqa: PTH111
        absolute = os.path.normpath(os.path.join(self.work_dir, expanded))  # noqa: PTH118
        path = Path(_find_existing(absolute, self._root) if _REPLACEMENT in absolute else absolute)
        if not os.path.isabs(expanded) and not any(_contains(root, path) for root in self._roots):  # noqa: PTH117
            raise FileProblem(
                f"{text} is outside of the working directory.", hint="Use an absolute path to refer to it."
            )
        located = self.resolve_path(path)
        if not self.may_read(located.real):
            raise FileProblem(
                f"{located.display_path_with_target} is hidden by the sandbox.",
                hint="If you need it, tell the user: `[sandbox] read` in their config allows it.",
            )
        return located

    def locate_writable(self, text: str) -> LocatedPath:
        """Resolve `text` as `locate` does. Raises FileProblem also if the sandbox protects it."""
        located = self.locate(text)
        if self.bounds is not None and self.bounds.access_to(located.real) != "write":
            raise FileProblem(
                f"{located.display_path_with_target} can't be changed in the sandbox.",
                hint="If it is necessary, tell the user: `[sandbox] write` in their config allows it.",
            )
        return located

    def may_read(self, path: Path) -> bool:
        """Return whether the sandbox, if there is one, lets `path` (absolute, links resolved) be read."""
        return self.bounds is None or self.bounds.access_to(path) in ("read", "write")

    def resolve_path(self, path: Path) -> LocatedPath:
        """Return the LocatedPath of `path`, which must be absolute."""
        root = self._root
        real, display_path = Path(real_path(path, root=root)), self.display_path(path)
        with_target = (
            display_path
            if real == self._path_without_links(path)
            else f"{display_path} (resolves to {printable_name(str(real))})"
        )
        return LocatedPath(path, real, display_path, with_target, self.is_inside(real), root)

    def is_inside(self, path: Path) -> bool:
        """Return whether `path` (absolute, links resolved) is in the working or an added directory."""
        return any(_contains(Path(os.path.realpath(root)), path) for root in self._roots)

    def display_path(self, path: str | Path) -> str:
        """Return `path` (absolute) as the model and the user see it.

        A path in the working directory is relative to it.
        """
        text, root = str(path), str(self.work_dir)
        if text == root:
            return "."
        prefix = root.rstrip(os.sep) + os.sep
        return printable_name(text.removeprefix(prefix))

    def _path_without_links(self, path: Path) -> Path:
        """Return what `path` resolves to if none of its links are below the working or an added directory."""
        for root in self._roots:
            if _contains(root, path):
                return Path(os.path.realpath(root)) / path.relative_to(root)
        return path

    @property
    def _root(self) -> str:
        return self.view.root if self.view is not None else ""

    @property
    def _roots(self) -> tuple[Path, ...]:
        return (self.work_dir, *self.additional_dirs)


def printable_name(name: str) -> str:
    """Return `name` safe for JSON and lists: bytes that aren't UTF-8 and control characters become U+FFFD.

    File names are bytes; `PathScope.locate` finds a file by its printable name.
    """
    return _UNPRINTABLE.sub(_REPLACEMENT, name)


def _contains(root: Path, path: Path) -> bool:
    return path == root or root in path.parents


def _find_existing(text: str, root: str) -> str:
    """Return the only existing path below `root` that is displayed as `text`; else `text` itself."""
    resolved = Path(text).anchor
    for part in Path(text).parts[1:]:
        candidate = os.path.join(resolved, part)  # noqa: PTH118
        if _REPLACEMENT in part and not os.path.lexists(root + candidate):
            try:
                names = [name for name in os.listdir(root + resolved) if printable_name(name) == part]  # noqa: PTH208
            except OSError:
                return text
            if len(names) != 1:
                return text
            candidate = os.path.join(resolved, names[0])  # noqa: PTH118
        resolved = candidate
    return resolved
