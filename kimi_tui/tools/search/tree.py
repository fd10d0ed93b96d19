"""A folder and what is below it, up to a depth."""

import os
import re
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kimi_tui.base.ignore import VCS_FOLDERS, IgnoreRules, rules_above
from kimi_tui.tools.file.regular import file_problem, kind_of
from kimi_tui.tools.file.size import readable_size
from kimi_tui.tools.workspace import Located, showable

MAX_ENTRIES = 1000
_MAX_SCANNED = 100_000
"""Of one folder."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Entries that are not wanted."""

    regex: re.Pattern[str]
    is_of_paths: bool
    """Whether it matches paths relative to the root, rather than names."""

    def matches(self, name: str, relative: str) -> bool:
        """Whether the entry is not wanted."""
        return self.regex.match(relative if self.is_of_paths else name) is not None


@dataclass(slots=True)
class Node:
    """An entry; of a folder that was looked into, with what it holds."""

    path: str
    relative: str
    level: int
    is_folder: bool
    text: str
    rules: IgnoreRules
    children: "list[Node]" = field(default_factory=list)
    is_opaque: bool = False
    """Whether it is not looked into: git ignores it, or keeps its own things there."""
    n_hidden: int = 0
    """Entries that there was no room for."""
    problem: str = ""

    @property
    def is_incomplete(self) -> bool:
        """Whether there was no room for some of what is below."""
        return bool(self.n_hidden) or any(child.is_incomplete for child in self.children)

    def lines(self) -> Iterator[str]:
        """What is below, a line each, indented by level."""
        indent = "  " * self.level
        for child in self.children:
            yield indent + child.text + (f"  ({child.problem})" if child.problem else "")
            yield from child.lines()
        if self.n_hidden:
            yield f"{indent}... {self.n_hidden:,} more"


def read_tree(folder: Located, depth: int, left_out: Sequence[LeftOut]) -> tuple[Node, int]:
    """The tree below `folder`, upper levels first until there are enough entries; and how many.

    Raises FileProblem when the folder itself can't be read.
    """
    root = Node(str(folder.path), "", 0, True, "", rules_above(folder.path))
    waiting = deque([root])
    room = MAX_ENTRIES
    while waiting:
        node = waiting.popleft()
        try:
            children = list(_children(node, left_out))
        except OSError as error:
            if node is root:
                raise file_problem(folder, error) from error
            node.problem = (error.strerror or "error").lower()
            continue
        node.children, node.n_hidden = children[:room], max(0, len(children) - room)
        room -= len(node.children)
        for child in node.children:
            _describe(child)
            if child.is_folder and child.level < depth and not child.is_opaque:
                waiting.append(child)
    return root, MAX_ENTRIES - room


def _children(node: Node, left_out: Sequence[LeftOut]) -> Iterator[Node]:
    with os.scandir(node.path) as scan:
        entries = [entry for entry, _ in zip(scan, range(_MAX_SCANNED), strict=False)]
    rules = node.rules.entering(node.path, {entry.name for entry in entries})
    for entry in sorted(entries, key=lambda entry: (not _is_folder(entry), entry.name)):
        relative = node.relative + entry.name
        if any(pattern.matches(entry.name, relative) for pattern in left_out):
            continue
        is_folder = _is_folder(entry)
        yield Node(entry.path, relative + "/", node.level + 1, is_folder, showable(entry.name), rules)


def _describe(node: Node) -> None:
    """Give `node` its text: name, kind, size, where a link leads."""
    is_ignored = node.rules.ignores(node.path, is_folder=node.is_folder)
    node.is_opaque = is_ignored or Path(node.path).name in VCS_FOLDERS
    try:
        info = os.lstat(node.path)
        if node.is_folder:
            node.text += "/"
        elif stat.S_ISLNK(info.st_mode):
            node.text += f" -> {showable(str(Path(node.path).readlink()))}"
        elif stat.S_ISREG(info.st_mode):
            node.text += f"  {readable_size(info.st_size)}"
        else:
            node.text += f"  ({kind_of(info.st_mode)})"
    except OSError as error:
        node.problem = (error.strerror or "error").lower()
    if is_ignored:
        node.text += "  (git-ignored)"


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
