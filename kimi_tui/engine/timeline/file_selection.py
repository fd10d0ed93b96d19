"""The files of a plan that a command selects."""

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.engine.timeline.revert_messages import display_item_path
from kimi_tui.history.snapshots.plan import Plan, PlanItem
from kimi_tui.wire.attempts import AdoptAttempts
from kimi_tui.wire.commands import Redo, Revert, SwitchBranch, Undo
from kimi_tui.wire.timeline import FileChoice


@frozen
class FileSelection:
    """The files that a command changes, by the paths that a plan shows. Trailing slashes are ignored."""

    paths: frozenset[str] | None
    """The files to change. None: the files that the plan selects."""
    choices: dict[str, FileChoice]
    """Decisions about single files by path. They apply even if a file isn't in `paths`."""

    @staticmethod
    def of(command: Revert | Undo | Redo | SwitchBranch | AdoptAttempts) -> "FileSelection":
        """Return the selection of a command."""
        paths = command.paths
        return FileSelection(
            None if paths is None else frozenset(path.rstrip("/") for path in paths),
            {choice.path.rstrip("/"): choice for choice in command.choices},
        )

    @property
    def is_explicit(self) -> bool:
        """Whether the user has chosen files or versions. Otherwise, the plan's selection applies."""
        return self.paths is not None or bool(self.choices)

    def check(self, plan: Plan) -> None:
        """Raise KimiTuiError if there is a decision about a file that isn't in the plan."""
        if missing := self.choices.keys() - {_name(item) for item in plan.items}:
            raise KimiTuiError(
                msg("The preview doesn't contain {path}.", path=min(missing)),
                hint="Preview the revert again.",
            )

    def paths_in(self, plan: Plan) -> set[str]:
        """Return the paths of the selected items, except files that a decision keeps."""
        kept = {name for name, choice in self.choices.items() if choice.keeps_file}
        return {item.path for item in plan.items if self._selects(item) and _name(item) not in kept}

    def choices_in(self, plan: Plan) -> dict[str, FileChoice]:
        """Return the decisions that change files, by the paths of their items."""
        by_item = {item.path: self.choices.get(_name(item)) for item in plan.items}
        return {path: choice for path, choice in by_item.items() if choice and not choice.keeps_file}

    def replaces_user_version(self, item: PlanItem) -> bool:
        """Return whether an executed item has replaced a version that had the user's changes."""
        decision = self.choices.get(_name(item))
        if not item.is_saved or (decision is not None and decision.choice is not None):
            return item.is_saved and decision is not None and decision.choice == "checkpoint"
        return item.action in ("conflict", "keep")

    def _selects(self, item: PlanItem) -> bool:
        return item.is_selected if self.paths is None else _name(item) in self.paths


def _name(item: PlanItem) -> str:
    return display_item_path(item).rstrip("/")
