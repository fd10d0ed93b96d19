"""Effects of one layer, their plan and their commit. The methods block."""

import stat
from collections.abc import Collection
from pathlib import Path

from kimi_tui.base.message_text import msg
from kimi_tui.workspaces.commit_lock import CommitLock
from kimi_tui.workspaces.effects import CommitItem, CommitPlan, CommitResult, Effects, PathEffect
from kimi_tui.workspaces.overlay.commit_executor import CommitExecutor
from kimi_tui.workspaces.overlay.commit_journal import CommitJournal
from kimi_tui.workspaces.overlay.file_comparison import has_same_content
from kimi_tui.workspaces.overlay.layer import Layer
from kimi_tui.workspaces.overlay.layer_reader import LayerReader


class LayerCommit:
    """Reads the effects in a layer, and commits them. No command may be running in it."""

    def __init__(self, layer: Layer, folder: Path, *, base_ns: int, lock: CommitLock) -> None:
        """Create it for `layer`, whose record is in `folder`. `base_ns` is as in `LayerReader`."""
        self._layer = layer
        self._folder = folder
        self._base_ns = base_ns
        self._lock = lock

    def read_effects(self) -> Effects:
        """Return the effects. Raises OSError."""
        effects: list[PathEffect] = []
        for view in self._layer.views():
            effects += LayerReader(view, self._layer.mode, self._base_ns).read()
        return Effects(tuple(sorted(effects, key=lambda effect: effect.path)))

    def plan(self, effects: Effects) -> CommitPlan:
        """Return the plan for `effects`, compared with the current working directory. Raises OSError."""
        kept = [effect for effect in effects.items if not (effect.doubt and _is_already_so(effect))]
        conflicts = {effect.path: effect.doubt for effect in kept if effect.doubt}
        _propagate(conflicts, kept)
        return CommitPlan(
            tuple(CommitItem(effect=effect, conflict=conflicts.get(effect.path, "")) for effect in kept)
        )

    def commit(self, plan: CommitPlan, only: Collection[str] | None) -> CommitResult:
        """Apply the items without conflict, or those in `only`. Raises OSError if that can't start."""
        selected = [
            item.effect
            for item in plan.items
            if (item.effect.path in only if only is not None else not item.conflict)
        ]
        if not selected:
            return CommitResult()
        with self._lock.held():
            return self._executor().commit(selected)

    def resume(self) -> CommitResult | None:
        """Complete a commit that was killed. Return None if none had begun. Raises OSError."""
        with self._lock.held():
            return self._executor().resume()

    def _executor(self) -> CommitExecutor:
        journal = CommitJournal(self._folder)
        return CommitExecutor(self._layer.staging(self._folder.name), journal, base_ns=self._base_ns)


def _is_already_so(effect: PathEffect) -> bool:
    """Return whether the path is as the command left it: another program made the same change."""
    before, after = effect.before, effect.after
    if before is None or after is None or stat.S_IFMT(before.mode) != stat.S_IFMT(after.mode):
        return before is after
    if (before.mode, before.owner) != (after.mode, after.owner) or effect.moved_from or effect.link_to:
        return False
    if after.is_folder:
        return True
    return after.is_file and before.size == after.size and has_same_content(effect.path, effect.source)


def _propagate(conflicts: dict[str, str], effects: list[PathEffect]) -> None:
    """Add the directories that can't be removed, and the files that can't be created, due to `conflicts`."""
    by_path = {effect.path: effect for effect in effects}
    for path in list(conflicts):
        parent = path.rpartition("/")[0]
        while (above := by_path.get(parent)) is not None and (
            above.kind == "delete" or (above.before is not None and above.kind == "write")
        ):
            conflicts.setdefault(parent, msg("files in it were changed during the command"))
            parent = parent.rpartition("/")[0]
    for effect in effects:
        parent = effect.path.rpartition("/")[0]
        above = by_path.get(parent)
        if parent in conflicts and above is not None and above.kind == "folder" and effect.after is not None:
            conflicts.setdefault(effect.path, conflicts[parent])
