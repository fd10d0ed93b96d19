"""The selection of files, choices for them, and hunks in a plan."""

from collections.abc import Collection, Sequence

from kimi_tui.wire.timeline import ConflictChoice, FileChoice, PlannedChoice, PlannedFile, PlannedHunk


class PlanSelection:
    """The selection in one plan. `paths` are the initially selected files."""

    def __init__(self, files: Sequence[PlannedFile], paths: Collection[str]) -> None:
        self._files = {file.path: file for file in files}
        self.paths = set(paths)
        """Paths of the selected files."""
        self._choices: dict[str, ConflictChoice] = {}
        """The choices other than `mine`, by path. Kept while a file isn't selected."""
        self._excluded: dict[str, set[str]] = {}
        """The hunks of selected files that are excluded, by path."""

    def replace_file(self, file: PlannedFile) -> None:
        """Replace a file by the same file with hunks."""
        self._files[file.path] = file

    def decide(self, decision: FileChoice) -> None:
        """Select a file according to `decision`. Unknown hunks are ignored."""
        self.paths.add(decision.path)
        if decision.choice is not None:
            self.choose(decision.path, decision.choice)
        if decision.hunks is not None:
            ids = {hunk.id for hunk in self.hunks_of(decision.path)}
            self.toggle_hunks(decision.path, self.included(decision.path) - (ids & {*decision.hunks}))

    def choice_of(self, path: str) -> ConflictChoice | None:
        """Return the choice for a file. None for a file without choices."""
        file = self._files.get(path)
        if file is None or not file.choices:
            return None
        return self._choices.get(path, _ticked_choice(file)) if path in self.paths else "mine"

    def choose(self, path: str, choice: ConflictChoice) -> None:
        """Set the choice for a file. A choice that the file doesn't have is ignored."""
        if choice not in [it.choice for it in self._files[path].choices]:
            return
        self._excluded.pop(path, None)
        if choice == "mine":
            self.paths.discard(path)
        else:
            self._choices[path] = choice
            self.paths.add(path)

    def set_paths(self, paths: Collection[str]) -> None:
        """Select these files. Newly selected files include all hunks."""
        for path in set(paths) ^ self.paths:
            self._excluded.pop(path, None)
        self.paths = set(paths)

    def hunks_of(self, path: str) -> tuple[PlannedHunk, ...]:
        """Return the hunks of a file for its choice, even if the file isn't selected."""
        file = self._files[path]
        return planned.hunks if (planned := self._planned(file)) is not None else file.hunks

    def included(self, path: str) -> set[str]:
        """Return the ids of the hunks that are applied."""
        if path not in self.paths:
            return set()
        return {hunk.id for hunk in self.hunks_of(path)} - self._excluded.get(path, set())

    def toggle_hunks(self, path: str, ids: Collection[str]) -> None:
        """Include or exclude hunks. A file without included hunks isn't selected."""
        included = self.included(path) ^ set(ids)
        if not included:
            self.paths.discard(path)
            self._excluded.pop(path, None)
            return
        self.paths.add(path)
        self._excluded[path] = {hunk.id for hunk in self.hunks_of(path)} - included

    def is_partial(self, path: str) -> bool:
        """Return whether only some hunks of a file are included."""
        return path in self.paths and bool(self._excluded.get(path))

    def count_lines(self, path: str) -> tuple[int, int]:
        """Return the numbers of lines that the plan adds to a file and removes from it."""
        file = self._files[path]
        if self.is_partial(path):
            included = self.included(path)
            hunks = [hunk for hunk in self.hunks_of(path) if hunk.id in included]
            return sum(hunk.added for hunk in hunks), sum(hunk.removed for hunk in hunks)
        planned = self._planned(file)
        if planned is None or self._planned_choice(file) == _ticked_choice(file):
            return file.added, file.removed
        return planned.added, planned.removed

    def planned_choice(self, path: str) -> PlannedChoice | None:
        """Return the choice that applies if the file is selected. None for a file without choices."""
        return self._planned(self._files[path])

    def decisions(self) -> tuple[FileChoice, ...]:
        """Return the decisions that differ from selecting the whole file."""
        decisions = []
        for path in sorted(self.paths):
            choice = self.choice_of(path)
            if choice == _ticked_choice(self._files[path]):
                choice = None
            hunks = None
            if self.is_partial(path):
                included = self.included(path)
                hunks = tuple(hunk.id for hunk in self.hunks_of(path) if hunk.id in included)
            if choice is not None or hunks is not None:
                decisions.append(FileChoice(path, choice, hunks))
        return tuple(decisions)

    def _planned(self, file: PlannedFile) -> PlannedChoice | None:
        chosen = self._planned_choice(file)
        return next((it for it in file.choices if it.choice == chosen), None)

    def _planned_choice(self, file: PlannedFile) -> ConflictChoice | None:
        return self._choices.get(file.path, _ticked_choice(file))


def _ticked_choice(file: PlannedFile) -> ConflictChoice | None:
    """Return the choice that selecting a file makes."""
    if not file.choices:
        return None
    return "merge" if file.choice == "merge" else "checkpoint"
