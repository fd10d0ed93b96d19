"""The workspace: which folders a session works in, and what a path given to a tool means."""

import os
import re
from pathlib import Path

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.value import value

_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


@value
class Located:
    """A file or folder that a tool was asked to use; it need not exist."""

    path: Path
    """Absolute and normalised; symbolic links as they were written."""
    real: Path
    """Where it leads: absolute, symbolic links resolved."""
    shown: str
    """As the model and the user read it (`Workspace.shown`)."""
    named: str
    """As consent is asked for: `shown`, and where its links lead when that is somewhere else."""
    inside: bool
    """Whether `real` lies in the work dir or in an added dir."""


@value
class Workspace:
    """The work dir and the folders added to it."""

    work_dir: Path
    additional_dirs: tuple[Path, ...] = ()

    def locate(self, text: str) -> Located:
        """What `text` means: relative to the work dir, or absolute, or from the home folder (`~`).

        Raises FileProblem when it is no path, or a relative one that leaves the workspace.
        """
        if not text.strip() or "\x00" in text:
            raise FileProblem("The path is empty or holds a NUL.", hint="Give the path of a file or folder.")
        try:
            os.fsencode(text)
        except UnicodeEncodeError as error:
            raise FileProblem(
                "The path holds half of a surrogate pair.", hint="Write the character itself."
            ) from error
        expanded = os.path.expanduser(text) if text.startswith("~") else text  # noqa: PTH111
        absolute = os.path.normpath(os.path.join(self.work_dir, expanded))  # noqa: PTH118
        path = Path(_existing(absolute) if _REPLACEMENT in absolute else absolute)
        if not os.path.isabs(expanded) and not any(_holds(root, path) for root in self._roots):  # noqa: PTH117
            raise FileProblem(
                f"{text} leaves the work dir {self.shown(self.work_dir)}.",
                hint="Write the absolute path of what lies outside of it.",
            )
        return self.located(path)

    def located(self, path: Path) -> Located:
        """`path`, which is absolute, with what is known of it."""
        real, shown = Path(os.path.realpath(path)), self.shown(path)
        named = shown if real == self._without_links(path) else f"{shown} (really {showable(str(real))})"
        return Located(path, real, shown, named, self.is_inside(real))

    def is_inside(self, path: Path) -> bool:
        """Whether `path`, absolute and with links resolved, lies in the work dir or in an added dir."""
        return any(_holds(Path(os.path.realpath(root)), path) for root in self._roots)

    def shown(self, path: str | Path) -> str:
        """`path`, absolute, as the model and the user read it: relative to the work dir when it is there."""
        text, root = str(path), str(self.work_dir)
        if text == root:
            return "."
        prefix = root.rstrip(os.sep) + os.sep
        return showable(text.removeprefix(prefix))

    def _without_links(self, path: Path) -> Path:
        """Where `path` leads when there is no link in it below the work dir or an added dir."""
        for root in self._roots:
            if _holds(root, path):
                return Path(os.path.realpath(root)) / path.relative_to(root)
        return path

    @property
    def _roots(self) -> tuple[Path, ...]:
        return (self.work_dir, *self.additional_dirs)


def showable(name: str) -> str:
    """`name`, fit for JSON and a list: what is no UTF-8 and what controls a terminal becomes U+FFFD.

    File names are bytes; `Workspace.locate` finds a file by such a name again.
    """
    return _UNSHOWABLE.sub(_REPLACEMENT, name)


def _holds(root: Path, path: Path) -> bool:
    return path == root or root in path.parents


def _existing(text: str) -> str:
    """The one existing path that shows as `text`; `text` itself when there is none, or more than one."""
    found = Path(text).anchor
    for part in Path(text).parts[1:]:
        candidate = os.path.join(found, part)  # noqa: PTH118
        if _REPLACEMENT in part and not os.path.lexists(candidate):
            try:
                names = [name for name in os.listdir(found) if showable(name) == part]  # noqa: PTH208
            except OSError:
                return text
            if len(names) != 1:
                return text
            candidate = os.path.join(found, names[0])  # noqa: PTH118
        found = candidate
    return found
