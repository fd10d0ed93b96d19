"""Directory tree, up to a given depth."""

import os
import re
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.gitignore import VCS_FOLDERS, IgnoreRules, rules_for_parents
from kimi_tui.tools.file.regular_file import describe_file_type, to_file_problem
from kimi_tui.tools.path_scope import LocatedPath, PathScope, printable_name
from kimi_tui.tools.result_messages import format_size

MAX_ENTRIES = 1000
_MAX_SCANNED = 100_000
"""Maximum number of entries read per directory."""


@frozen
class IgnorePattern:
    """A pattern of entries to leave out."""

    regex: re.Pattern[str]
    matches_paths: bool
    """Whether the pattern matches paths relative to the root instead of names."""

    def matches(self, name: str, relative: str) -> bool:
        """Return whether to leave out the entry."""
        return self.regex.match(relative if self.matches_paths else name) is not None


@dataclass(slots=True)
class TreeNode:
    """An entry, with its children if it is a directory that was read."""

    path: str
    relative: str
    level: int
    is_folder: bool
    text: str
    rules: IgnoreRules
    children: "list[TreeNode]" = field(default_factory=list)
    is_closed: bool = False
    """Whether it is not read: git ignores it or stores its own data in it, or the sandbox hides it."""
    n_hidden: int = 0
    """Number of children left out because the limit was reached."""
    problem: str = ""

    @property
    def is_incomplete(self) -> bool:
        """Whether any descendants were left out because the limit was reached."""
        return bool(self.n_hidden) or any(child.is_incomplete for child in self.children)

    def format_lines(self) -> Iterator[str]:
        """Yield one line per descendant, indented by level."""
        indent = "  " * self.level
        for child in self.children:
            yield indent + child.text + (f"  ({child.problem})" if child.problem else "")
            yield from child.format_lines()
        if self.n_hidden:
            yield f"{indent}... {self.n_hidden:,} more"


def read_tree(
    folder: LocatedPath, depth: int, omitted: Sequence[IgnorePattern], *, scope: PathScope
) -> tuple[TreeNode, int]:
    """Return the tree below `folder` and its number of entries, upper levels first up to MAX_ENTRIES.

    Raises FileProblem if the directory itself can't be read.
    """
    root = TreeNode(str(folder.walk_start), "", 0, True, "", rules_for_parents(folder.walk_start))
    queue = deque([root])
    remaining = MAX_ENTRIES
    while queue:
        node = queue.popleft()
        try:
            children = list(_scan_children(node, omitted))
        except OSError as error:
            if node is root:
                raise to_file_problem(folder, error) from error
            node.problem = (error.strerror or "error").lower()
            continue
        node.children, node.n_hidden = children[:remaining], max(0, len(children) - remaining)
        remaining -= len(node.children)
        for child in node.children:
            _describe(child)
            child.is_closed |= not scope.may_read(folder.real / child.relative)
            if child.is_folder and child.level < depth and not child.is_closed:
                queue.append(child)
    return root, MAX_ENTRIES - remaining


def _scan_children(node: TreeNode, omitted: Sequence[IgnorePattern]) -> Iterator[TreeNode]:
    with os.scandir(node.path) as scan:
        entries = [entry for entry, _ in zip(scan, range(_MAX_SCANNED), strict=False)]
    rules = node.rules.descend(node.path, {entry.name for entry in entries})
    for entry in sorted(entries, key=lambda entry: (not _is_folder(entry), entry.name)):
        relative = node.relative + entry.name
        if any(pattern.matches(entry.name, relative) for pattern in omitted):
            continue
        is_folder = _is_folder(entry)
        yield TreeNode(
            entry.path, relative + "/", node.level + 1, is_folder, printable_name(entry.name), rules
        )


def _describe(node: TreeNode) -> None:
    """Set the text of `node`: name, type, size, link target."""
    is_ignored = node.rules.ignores(node.path, is_folder=node.is_folder)
    node.is_closed = is_ignored or Path(node.path).name in VCS_FOLDERS
    try:
        info = os.lstat(node.path)
        if node.is_folder:
            node.text += "/"
        elif stat.S_ISLNK(info.st_mode):
            node.text += f" -> {printable_name(str(Path(node.path).readlink()))}"
        elif stat.S_ISREG(info.st_mode):
            node.text += f"  {format_size(info.st_size)}"
        else:
            node.text += f"  ({describe_file_type(info.st_mode)})"
    except OSError as error:
        node.problem = (error.strerror or "error").lower()
    if is_ignored:
        node.text += "  (git-ignored)"


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
