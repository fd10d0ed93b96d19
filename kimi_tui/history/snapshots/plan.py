"""Plan of a revert: its effect on each file."""

from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.history.snapshots.attributes.file_attributes import FileAttributes
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.wire.timeline import ConflictChoice, WhoChanged

Action = Literal["restore", "delete", "recreate", "rename", "merge", "conflict", "keep", "not covered"]
"""Effect of a revert on a file.

- `restore`: restore an earlier content
- `delete`: delete a file that the agent created
- `recreate`: create a file again that the agent deleted
- `rename`: rename a file or directory back to its name before the agent renamed it; its content stays
- `merge`: you edited other lines of the file; the agent's changes are undone, and yours are kept
- `conflict`: you edited the same lines, or the file blocks something you created; kept unless selected
- `keep`: only you changed it; kept unless selected
- `not covered`: the earlier content isn't known
"""


@dataclass(frozen=True, slots=True)
class ItemVersion:
    """A state that the plan can give to a file changed by both the agent and the user."""

    choice: ConflictChoice
    then: Entry | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanItem:
    """The plan for one path."""

    path: str
    action: Action
    now: Entry | None
    then: Entry | None
    """The entry after the item has been executed."""
    renamed_to: str = ""
    """The new path, if the item renames the file. For any action, `then` is the entry at the new path."""
    replaced: Entry | None = None
    """The current entry at `renamed_to`: a file that the agent created there."""
    carried_to: str = ""
    """The path to which the plan moves the current content, if a plain rename isn't possible.

    Both paths are in use. This item is executed only together with the item of that path.
    """
    kept_at: str = ""
    """The path at which the plan writes the current content again, if no other path has it.

    If writing it there fails, this item isn't executed.
    """
    attributes: FileAttributes | None = None
    """The unusual attributes of a file or directory to recreate, as far as they are known and can be set."""
    members: "tuple[PlanItem, ...]" = ()
    """For a renamed directory, the items of paths that move along with it and don't change otherwise."""
    added: int = 0
    """Number of lines that the item adds to the current content."""
    removed: int = 0
    note: str = ""
    """The reason for the action, if it isn't obvious."""
    by: WhoChanged = ""
    """Who has changed the path since the target state."""
    versions: tuple[ItemVersion, ...] = ()
    """The different states to choose from, if the agent and the user changed the file; otherwise empty."""

    @property
    def is_selected(self) -> bool:
        """Whether the item is executed by default."""
        return self.action in {"restore", "delete", "recreate", "rename", "merge"}

    @property
    def has_effect(self) -> bool:
        """Whether the item changes anything when it is executed."""
        return self.now != self.then or self.renamed_to != ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The path and, if the item renames it, the new path."""
        return (self.path, self.renamed_to) if self.renamed_to else (self.path,)

    def is_as_in(self, entries: Entries) -> bool:
        """Return whether the item's paths have the same entries in another state."""
        if self.renamed_to and entries.get(self.renamed_to) != self.replaced:
            return False
        return entries.get(self.path) == self.now

    @property
    def default_choice(self) -> ConflictChoice | None:
        """The default choice among the `versions`; None without versions."""
        if not self.versions:
            return None
        return "merge" if self.action == "merge" else "mine"

    @property
    def is_saved(self) -> bool:
        """Whether the item can replace changes by the user. The current version is stored first."""
        if self.now is None or self.now.kind not in ("file", "link"):
            return False
        return self.action in ("conflict", "keep") or bool(self.versions)

    @property
    def is_selectable(self) -> bool:
        """Whether the item can be executed."""
        return self.action != "not covered"


@frozen
class Plan:
    """Plan of a revert from the state `head` to the state `target`."""

    target: str
    head: str
    items: tuple[PlanItem, ...] = ()
    commands: tuple[str, ...] = field(default=())
    """The agent's shell commands since `target`. Their effects on uncovered files can't be reverted."""
    incomplete: str = ""
    """Why the plan may lack files: the reason for partial coverage at some time since `target`.

    Empty if coverage was always complete.
    """
    remarks: tuple[str, ...] = ()
    """Further remarks for the user, such as changes that the revert doesn't affect."""
