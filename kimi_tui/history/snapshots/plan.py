"""Plan: what a revert will do to each file."""

from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.history.snapshots.attributes.file_attributes import FileAttributes
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.wire.timeline import ConflictChoice, WhoChanged

Action = Literal["restore", "delete", "recreate", "rename", "merge", "conflict", "keep", "not covered"]
"""What a revert does to a file.

- `restore`: restore an earlier content
- `delete`: delete a file that the agent created
- `recreate`: create a file again that the agent deleted
- `rename`: rename a file or directory that the agent renamed back to its old name; its content stays
- `merge`: you edited other lines of the file; the agent's changes are undone, and yours are kept
- `conflict`: you edited the same lines, or the file blocks something you created; kept unless selected
- `keep`: only you changed it; kept unless selected
- `not covered`: the earlier content isn't known
"""


@dataclass(frozen=True, slots=True)
class ItemVersion:
    """One of the states that the plan can give a file which both the agent and the user changed."""

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
    """The path that it gets, if it is renamed. `then` is the entry there, whatever the action is."""
    replaced: Entry | None = None
    """The current entry at `renamed_to`: a file that the agent created there."""
    carried_to: str = ""
    """The path at which the plan writes the current content, if that isn't a plain rename since both paths
    are in use. It is only executed along with that.
    """
    kept_at: str = ""
    """The path at which the plan writes the current content again, if it is nowhere else. If that fails, it
    isn't executed.
    """
    attributes: FileAttributes | None = None
    """The unusual attributes of what is created again, as far as they are known and can be set."""
    members: "tuple[PlanItem, ...]" = ()
    """The items of what is renamed along with a directory, without other changes."""
    added: int = 0
    """Number of lines that the item adds to the current content."""
    removed: int = 0
    note: str = ""
    """The reason for the action, if it isn't obvious."""
    by: WhoChanged = ""
    """Who has changed the path since."""
    versions: tuple[ItemVersion, ...] = ()
    """What can be done with the file if both changed it, all different; empty for other files."""

    @property
    def is_selected(self) -> bool:
        """Whether it is executed by default."""
        return self.action in {"restore", "delete", "recreate", "rename", "merge"}

    @property
    def has_effect(self) -> bool:
        """Whether its execution changes anything."""
        return self.now != self.then or self.renamed_to != ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The path, and the one that it gets, if it is renamed."""
        return (self.path, self.renamed_to) if self.renamed_to else (self.path,)

    def is_as_in(self, entries: Entries) -> bool:
        """Return whether its paths have the current entries in another state, too."""
        if self.renamed_to and entries.get(self.renamed_to) != self.replaced:
            return False
        return entries.get(self.path) == self.now

    @property
    def default_choice(self) -> ConflictChoice | None:
        """The one of the `versions` that is executed by default."""
        if not self.versions:
            return None
        return "merge" if self.action == "merge" else "mine"

    @property
    def is_saved(self) -> bool:
        """Whether it can replace a version with changes of the user's, which is stored before."""
        if self.now is None or self.now.kind not in ("file", "link"):
            return False
        return self.action in ("conflict", "keep") or bool(self.versions)

    @property
    def is_selectable(self) -> bool:
        """Whether it can be executed."""
        return self.action != "not covered"


@frozen
class Plan:
    """What a revert from the state `head` to `target` will do."""

    target: str
    head: str
    items: tuple[PlanItem, ...] = ()
    commands: tuple[str, ...] = field(default=())
    """Shell commands run by the agent since. Their effects on uncovered files can't be reverted."""
    incomplete: str = ""
    """Why the plan may lack files: the reason why coverage was partial at some time since. Empty if it
    wasn't.
    """
    remarks: tuple[str, ...] = ()
    """What the user should know besides, such as changes that the revert doesn't affect."""
