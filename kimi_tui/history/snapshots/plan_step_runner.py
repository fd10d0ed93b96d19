"""Runner for the steps of a plan, in phases."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, get_args

from kimi_tui.base.frozen import frozen
from kimi_tui.history.snapshots.attributes.file_attributes import FileAttributes
from kimi_tui.history.snapshots.dir_handles import PathRejected
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.file_writer import AtomicFileWriter, WriteTarget
from kimi_tui.history.snapshots.read_only_folders import make_writable, restore_modes
from kimi_tui.history.snapshots.stat_cache import StatKey, WrittenFile, modification_key

Phase = Literal[
    "remove",
    "remove directories",
    "rename",
    "remove left directories",
    "make directories",
    "prepare",
    "overwrite",
    "put",
    "move contents",
    "remove emptied directories",
    "modes",
]
_PHASES: tuple[Phase, ...] = get_args(Phase)
_FOLDER_PHASES: frozenset[Phase] = frozenset(
    {
        "remove directories",
        "remove left directories",
        "make directories",
        "remove emptied directories",
        "modes",
    }
)
"""Phases that only concern directories."""
_BATCH_FILES = 16
"""Minimum number of files to sync together. This also syncs other data on the same file system."""
_THREADS = 8
"""Number of threads that remove or replace files in large plans.

Each time, freeing the old content may have to wait for the disk or a network file system.
"""


@frozen
class PlanStep:
    """The planned change of one path."""

    path: str
    now: Entry | None
    then: Entry | None
    temporary: str
    """Name of the staged file, in the same directory."""
    seen: StatKey = ()
    """Key of the current entry, to detect changes; empty if nothing exists at `path`."""
    in_place: bool = False
    """Whether a file is overwritten, instead of being replaced by a new one."""
    renamed_from: str = ""
    """The old path, if the step begins with a rename. The step of the old path has `renamed_to`."""
    source: Entry | None = None
    """The entry at `renamed_from`."""
    source_key: StatKey = ()
    """Key of the entry at `renamed_from`."""
    renamed_to: str = ""
    carried_to: str = ""
    """The path at which another step writes the current content. Either both steps run or neither."""
    kept_at: str = ""
    """The path at which another step writes the current content. If that step fails, this one isn't run."""
    attributes: FileAttributes | None = None
    """The unusual attributes of a recreated file or directory."""

    def after_rename(self) -> "PlanStep":
        """Return the step that remains after the rename."""
        return replace(
            self, now=self.source, seen=self.source_key, renamed_from="", source=None, source_key=()
        )

    @property
    def writes_file(self) -> bool:
        """Whether the step creates or changes a file or link."""
        return kind_of(self.then) in {"file", "link"}

    @property
    def stages_file(self) -> bool:
        """Whether the step creates a file or link under a temporary name, and renames it at the end."""
        return self.writes_file and not self.in_place

    @property
    def destination(self) -> str:
        """The path of a step that has to succeed before this one removes the current content, or empty."""
        return self.carried_to or self.kept_at

    @property
    def is_done(self) -> bool:
        """Whether a file already has its planned state."""
        return self.now == self.then and not self.renamed_from and kind_of(self.then) != "folder"

    @property
    def removes_folder(self) -> bool:
        """Whether the step removes a directory without replacement."""
        return kind_of(self.now) == "folder" and self.then is None


class PlanStepRunner:
    """Runs the steps of one plan."""

    def __init__(
        self, target: WriteTarget, *, read_only_folders: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        self._target = target
        self._read_only_folders = read_only_folders
        """Directories that are writable only during the run, with their original modes."""
        self._sync_together = target.fs.can_sync()
        """Whether many files can be synced together."""
        self.written: dict[str, WrittenFile] = {}
        """Staged and overwritten files by path. A path has its file only if its current key is equal."""
        self.renamed: dict[str, str] = {}
        """Renamed files and directories: new path -> old path."""

    def run_steps(self, steps: Iterable[PlanStep], *, whole_folders: Collection[str] = ()) -> dict[str, str]:
        """Run all steps. Return the paths of failed steps, with the reasons. These paths are unchanged.

        `whole_folders` are directories that are renamed with everything in them.
        """
        failed: dict[str, str] = {}
        ordered = sorted(steps, key=lambda step: step.path)
        last = _last_steps(ordered)
        concerns_folders = any("folder" in {kind_of(step.now), kind_of(step.then)} for step in ordered)
        with self._target.open_writer() as writer:
            make_writable(writer, self._read_only_folders)
            for phase in _PHASES:
                if phase in _FOLDER_PHASES and not concerns_folders:
                    continue
                remaining = [step for step in ordered if step.path not in failed]
                if phase in {"remove", "overwrite", "put"}:
                    remaining = [step for step in remaining if step.path not in last]
                match phase:
                    case "rename":
                        ordered = self._rename(remaining, writer, whole_folders, failed)
                    case "prepare":
                        failed |= self._stage(remaining, writer)
                    case "move contents":
                        self._move_contents([step for step in remaining if step.path in last], writer, failed)
                    case "remove" | "put" if len(remaining) >= _BATCH_FILES:
                        failed |= self._run_in_threads(phase, remaining)
                    case _:
                        failed |= self._run_phase(phase, remaining, writer)
            changed = {step.path for step in ordered if step.path not in failed}
            failed |= restore_modes(writer, self._read_only_folders, changed=changed)
        return failed

    def _rename(
        self,
        steps: Sequence[PlanStep],
        writer: AtomicFileWriter,
        whole_folders: Collection[str],
        failed: dict[str, str],
    ) -> list[PlanStep]:
        """Run the renames. Return the steps that remain; add failed steps to `failed`."""
        remaining = []
        moved: list[tuple[str, str]] = []
        """Old and new prefixes of paths in directories that have been renamed."""
        for step in steps:
            if not step.renamed_from:
                remaining.append(step)
                continue
            is_folder = kind_of(step.source) == "folder"
            is_moved = any(
                step.renamed_from.startswith(source)
                and step.path == target + step.renamed_from[len(source) :]
                for source, target in moved
            )
            try:
                if is_folder and not is_moved and step.renamed_from in whole_folders:
                    writer.rename_folder(step.renamed_from, step.path)
                    moved.append((f"{step.renamed_from}/", f"{step.path}/"))
                elif not is_folder and not is_moved:
                    key = step.source_key
                    writer.rename(step.renamed_from, step.path, source_key=key, expected_key=step.seen)
            except (OSError, PathRejected) as error:
                if not is_folder:
                    failed[step.path] = failed[step.renamed_from] = _reason(error)
                    continue
            self.renamed[step.path] = step.renamed_from
            after = step.after_rename() if not is_folder else replace(step, now=None, renamed_from="")
            if not after.is_done:
                remaining.append(after)
            elif step.then is not None:
                self.written[step.path] = WrittenFile(step.then, modification_key(step.source_key))
        return remaining

    def remaining_folders(self, steps: Iterable[PlanStep]) -> set[str]:
        """Return directories that should be gone but still exist, since they contain uncovered files."""
        with self._target.open_writer() as writer:
            return {step.path for step in steps if step.removes_folder and writer.is_folder(step.path)}

    def _stage(self, steps: Sequence[PlanStep], writer: AtomicFileWriter) -> dict[str, str]:
        to_put = [step for step in steps if step.stages_file]
        together = self._sync_together and len(to_put) >= _BATCH_FILES
        failed = self._run_phase("prepare", to_put, writer, fsync=not together)
        try:
            writer.sync()
        except OSError as error:
            for step in to_put:
                writer.discard(step.path, temporary=step.temporary)
            failed |= {step.path: _reason(error) for step in to_put if step.path not in failed}
        return failed

    def _move_contents(
        self, steps: Iterable[PlanStep], writer: AtomicFileWriter, failed: dict[str, str]
    ) -> None:
        """Run steps that remove contents, each after the step that writes its content elsewhere.

        A step fails if that other step failed. Failed steps are added to `failed`.
        """
        pending = {step.path: step for step in steps}
        while pending:
            ready = [step for step in pending.values() if step.destination not in pending]
            for step in ready or list(pending.values())[:1]:
                del pending[step.path]
                if step.destination in failed:
                    writer.discard(step.path, temporary=step.temporary)
                    failed[step.path] = failed[step.destination]
                    continue
                for phase in ("remove", "overwrite", "put"):
                    failed |= self._run_phase(phase, [step], writer)

    def _run_in_threads(self, phase: Phase, steps: Sequence[PlanStep]) -> dict[str, str]:
        """Run a phase in several threads, each with its own writer."""

        def run_batch(batch: Sequence[PlanStep]) -> dict[str, str]:
            with self._target.open_writer() as writer:
                return self._run_phase(phase, batch, writer)

        size = -(-len(steps) // _THREADS)
        batches = [steps[start : start + size] for start in range(0, len(steps), size)]
        with ThreadPoolExecutor(_THREADS) as threads:
            results = list(threads.map(run_batch, batches))
        return {path: reason for failed in results for path, reason in failed.items()}

    def _run_phase(
        self, phase: Phase, steps: Sequence[PlanStep], writer: AtomicFileWriter, *, fsync: bool = True
    ) -> dict[str, str]:
        failed = {}
        for step in (
            reversed(steps) if phase.endswith("directories") and phase.startswith("remove") else steps
        ):
            try:
                self._run_step(phase, step, writer, fsync=fsync)
            except (OSError, PathRejected) as error:
                writer.discard(step.path, temporary=step.temporary)
                failed[step.path] = _reason(error)
        return failed

    def _run_step(self, phase: Phase, step: PlanStep, writer: AtomicFileWriter, *, fsync: bool) -> None:
        now, then = kind_of(step.now), kind_of(step.then)
        match phase:
            case "remove" if (
                now in {"file", "link", "omitted"} and not step.writes_file and not step.renamed_to
            ):
                writer.remove(step.path, expected_key=step.seen)
            case "remove directories" | "remove left directories" | "remove emptied directories" if (
                now == "folder" and then != "folder"
            ):
                is_removed = writer.remove_folder(step.path)
                if not is_removed and then is not None and phase == "remove left directories":
                    raise PathRejected("the directory isn't empty")
            case "make directories" if step.then is not None and then == "folder":
                writer.make_folder(step.path, step.then.mode, step.attributes)
            case "prepare" if step.then is not None and step.stages_file:
                key = writer.stage(
                    step.path,
                    step.then,
                    temporary=step.temporary,
                    fsync=fsync,
                    attributes=step.attributes,
                )
                self.written[step.path] = WrittenFile(step.then, key)
            case "overwrite" if step.now is not None and step.then is not None and step.in_place:
                key = writer.overwrite(step.path, step.then, old=step.now, expected_key=step.seen)
                self.written[step.path] = WrittenFile(step.then, key)
            case "put" if step.stages_file:
                expected_key = () if now == "folder" else step.seen
                writer.commit(step.path, temporary=step.temporary, expected_key=expected_key)
            case "modes" if step.then is not None and then == "folder":
                writer.set_mode(step.path, step.then.mode)
            case _:
                pass


def _last_steps(steps: Sequence[PlanStep]) -> set[str]:
    """Return the paths of steps that can wait until another step has written their content elsewhere."""
    replaced_folders = [
        f"{step.path}/" for step in steps if kind_of(step.now) == "folder" and step.writes_file
    ]
    return {
        step.path
        for step in steps
        if step.destination
        and kind_of(step.then) != "folder"
        and not step.path.startswith(tuple(replaced_folders))
    }


def kind_of(entry: Entry | None) -> str | None:
    """Return the kind of an entry; None if there is no entry."""
    return entry.kind if entry is not None else None


def _reason(error: OSError | PathRejected) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return str(error)
