"""Applies the effects of a workspace to the working directory, and completes that after a kill."""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from errno import ENOTEMPTY
from pathlib import Path

from kimi_tui.history.snapshots.dir_handles import DirectoryHandles, PathRejected
from kimi_tui.history.snapshots.plan_executor import CHANGED_REASON
from kimi_tui.workspaces.effects import CommitResult, PathEffect, PathState
from kimi_tui.workspaces.overlay.commit_journal import CommitJournal, Progress, RecordedCommit
from kimi_tui.workspaces.overlay.file_copy import (
    copy_attributes,
    copy_entry,
    overwrite_content,
    strip_overlay_attributes,
)
from kimi_tui.workspaces.overlay.read_only_folders import (
    find_read_only_folders,
    make_parent_writable,
    set_folder_mode,
)

_FOLDER_FLAGS = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW


class CommitExecutor:
    """Applies effects to the directories `roots`. The methods block.

    New files are moved out of the layer if that is on the same file system, otherwise copied. A file
    that the command changed in place is changed in place, so that it keeps its inode and its other names.
    """

    def __init__(self, staging: Mapping[str, str], journal: CommitJournal, *, base_ns: int) -> None:
        """Create the executor. `base_ns` is as in `LayerReader`.

        `staging` has a directory for files on their way, on the same file system, for each root.
        """
        self._staging = staging
        self._journal = journal
        self._base_ns = base_ns

    def commit(self, effects: Sequence[PathEffect]) -> CommitResult:
        """Apply `effects`, which are sorted by path. Raises OSError if the journal can't be written."""
        folders = find_read_only_folders(effect.path for effect in effects)
        self._journal.begin(effects, folders)
        return self._run(RecordedCommit(tuple(effects), folders, Progress()))

    def resume(self) -> CommitResult | None:
        """Complete a commit that was killed. Return None if none had begun. Raises OSError."""
        if (left := self._journal.read()) is None:
            return None
        return self._run(left)

    def _run(self, commit: RecordedCommit) -> CommitResult:
        run = _CommitRun(self._staging, self._journal, commit, base_ns=self._base_ns)
        try:
            with run:
                return run.apply()
        finally:
            self._journal.close()


class _CommitRun:
    """One run of a commit."""

    def __init__(
        self,
        staging: Mapping[str, str],
        journal: CommitJournal,
        commit: RecordedCommit,
        *,
        base_ns: int,
    ) -> None:
        effects = commit.effects
        roots = sorted(staging, key=len, reverse=True)
        self._handles = {root: DirectoryHandles(Path(root)) for root in roots}
        self._staging_paths = staging
        self._staging_folders: dict[str, int] = {}
        self._journal = journal
        self._progress = commit.progress
        self._is_resumed = bool(commit.progress.phases)
        self._read_only_folders = commit.read_only_folders
        self._effects = tuple(enumerate(effects))
        self._by_path = {effect.path: effect for effect in effects}
        self._base_ns = base_ns
        self._moved_away = {effect.moved_from for effect in effects}
        self._moved_folders = {
            effect.moved_from: (number, effect)
            for number, effect in self._effects
            if effect.kind == "folder" and effect.moved_from
        }
        self._failed: dict[str, str] = {}
        self._linked: dict[tuple[int, int], str] = {}
        """Path of the first committed name of each file of the layer."""
        self._stack = ExitStack()

    def __enter__(self) -> None:
        for handles in self._handles.values():
            self._stack.enter_context(handles)

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        for root, folder in self._staging_folders.items():
            os.close(folder)
            with suppress(OSError):  # what couldn't be put anywhere stays there
                os.rmdir(self._staging_paths[root])

    def apply(self) -> CommitResult:
        writes = sorted(self._writes(), key=lambda item: not item[1].is_in_place)
        folders = [item for item in self._effects if item[1].kind == "folder"]
        attributes = [item for item in self._effects if item[1].kind == "attributes"]
        for folder, mode in self._read_only_folders.items():
            self._set_folder_mode(folder, mode | stat.S_IRWXU)
        self._phase("staged", [item for item in writes if self._is_move(item[1])], self._stage_move)
        self._phase("deleted", tuple(reversed(self._effects)), self._remove_old)
        self._phase("folders", folders, self._make_folder)
        self._phase("put", writes, self._put)
        self._phase("attributes", attributes, self._set_attributes)
        self._phase("folder attributes", tuple(reversed(folders)), self._finish_folder)
        self._restore_modes()
        done = tuple(effect.path for _, effect in self._effects if effect.path not in self._failed)
        return CommitResult(done, self._failed)

    def _restore_modes(self) -> None:
        """Give directories that were made writable their mode, or the one that the command gave them."""
        for folder in sorted(self._read_only_folders, reverse=True):
            effect, mode = self._by_path.get(folder), self._read_only_folders[folder]
            if effect is not None and effect.after is not None and folder not in self._failed:
                mode = stat.S_IMODE(effect.after.mode)
            self._set_folder_mode(folder, mode)

    def _set_folder_mode(self, path: str, mode: int) -> None:
        with suppress(OSError, PathRejected):  # what needs the directory reports that it can't be used
            set_folder_mode(*self._open_parent(path), mode)

    def _writes(self) -> list[tuple[int, PathEffect]]:
        return [item for item in self._effects if item[1].kind == "write"]

    def _phase(
        self,
        name: str,
        items: Sequence[tuple[int, PathEffect]],
        step: Callable[[int, PathEffect], None],
    ) -> None:
        if name in self._progress.phases:
            return
        for number, effect in items:
            if effect.path in self._failed:
                continue
            try:
                step(number, effect)
            except (PathRejected, OSError) as error:
                self._failed[effect.path] = _reason(error)
                self._put_back(number, effect)
        self._journal.note_phase(name)

    def _is_move(self, effect: PathEffect) -> bool:
        """Return whether the file is moved from another path, and not copied since only one is committed."""
        return bool(effect.moved_from) and effect.moved_from in self._by_path

    def _stage_move(self, number: int, effect: PathEffect) -> None:
        """Move a file away from its old path; both names could be swapped."""
        staging = self._staging_for(effect.path)
        if _state(staging, str(number)) is not None:
            return
        folder, name = self._open_parent(effect.moved_from)
        if not _is_same(_state(folder, name), self._by_path[effect.moved_from].before):
            raise PathRejected(CHANGED_REASON)
        os.rename(name, str(number), src_dir_fd=folder, dst_dir_fd=staging)

    def _put_back(self, number: int, effect: PathEffect) -> None:
        """Put a file that can't be put at its new path back to the old one, or next to it."""
        if not effect.moved_from:
            return
        with suppress(OSError, PathRejected):
            staging = self._staging_for(effect.path)
            if _state(staging, str(number)) is None:
                return
            folder, name = self._open_parent(effect.moved_from)
            free = name if _state(folder, name) is None else f"{name}.kimi-tui-{number}"
            os.rename(str(number), free, src_dir_fd=staging, dst_dir_fd=folder)

    def _remove_old(self, number: int, effect: PathEffect) -> None:
        """Remove the old file or directory of a path that is deleted or changes its type."""
        before = effect.before
        if before is None or effect.kind == "attributes" or (effect.kind == "write" and not before.is_folder):
            return
        if effect.kind == "folder" and before.is_folder:
            return
        try:
            folder, name = self._open_parent(effect.path)
        except (FileNotFoundError, NotADirectoryError):
            return
        current = _state(folder, name)
        if current is None:
            return
        if before.is_folder and current.is_folder:
            self._remove_folder(folder, name, effect.path)
        elif _is_same(current, before):
            os.unlink(name, dir_fd=folder)
        else:
            raise PathRejected(CHANGED_REASON)

    def _remove_folder(self, folder: int, name: str, path: str) -> None:
        """Remove a directory; one that is moved keeps what the user has put into it."""
        try:
            if (moved := self._moved_folders.get(path)) is not None:
                number, effect = moved
                staging = self._staging_for(effect.path)
                os.rename(name, str(number), src_dir_fd=folder, dst_dir_fd=staging)
            else:
                os.rmdir(name, dir_fd=folder)
        except OSError as error:
            if error.errno == ENOTEMPTY:
                raise PathRejected("the directory isn't empty") from error
            raise
        root, below = self._split(path)
        self._handles[root].close_below(below)

    def _make_folder(self, number: int, effect: PathEffect) -> None:
        assert effect.after is not None
        folder, name = self._open_parent(effect.path)
        current = _state(folder, name)
        if current is not None and current.is_folder:
            return
        if current is not None:
            raise PathRejected(CHANGED_REASON)
        staging = self._staging_for(effect.path)
        if _state(staging, str(number)) is not None:
            os.rename(str(number), name, src_dir_fd=staging, dst_dir_fd=folder)
        else:
            os.mkdir(name, 0o700, dir_fd=folder)

    def _put(self, number: int, effect: PathEffect) -> None:
        assert effect.after is not None
        group = (effect.after.device, effect.after.inode)
        if number not in self._progress.done:
            folder, name = self._open_parent(effect.path)
            if effect.is_in_place:
                self._overwrite(number, effect, folder, name)
            elif self._is_move(effect):
                self._put_moved(number, effect, folder, name)
            elif (first := self._first_name(effect, group)) is not None:
                self._link(number, first, effect, folder, name)
            elif not self._is_put(effect, folder, name):
                self._check(effect, folder, name)
                self._put_new(number, effect, folder, name)
            self._journal.note_done(number)
        self._linked.setdefault(group, effect.path)

    def _put_moved(self, number: int, effect: PathEffect, folder: int, name: str) -> None:
        """Put a file from the staging directory at its new path, and change it as the command did."""
        staging = self._staging_for(effect.path)
        if _state(staging, str(number)) is not None:
            self._check(effect, folder, name)
            os.rename(str(number), name, src_dir_fd=staging, dst_dir_fd=folder)
        elif not self._is_resumed or not _is_same_file(
            _state(folder, name), self._by_path[effect.moved_from].before
        ):
            raise PathRejected(CHANGED_REASON)
        if effect.source != effect.moved_from:
            self._overwrite_moved(number, effect, folder, name)

    def _overwrite(self, number: int, effect: PathEffect, folder: int, name: str) -> None:
        assert effect.after is not None
        current = _state(folder, name)
        if number not in self._progress.begun and not _is_same(current, effect.before):
            raise PathRejected(CHANGED_REASON)
        self._journal.note_begun(number)
        if effect.after.is_file:
            overwrite_content(effect.source, folder, name)
        copy_attributes(effect.source, folder, name, effect.after)

    def _overwrite_moved(self, number: int, effect: PathEffect, folder: int, name: str) -> None:
        assert effect.after is not None
        self._journal.note_begun(number)
        if effect.after.is_file:
            overwrite_content(effect.source, folder, name)
        copy_attributes(effect.source, folder, name, effect.after)

    def _first_name(self, effect: PathEffect, group: tuple[int, int]) -> str | None:
        """Return another path of the same file, if that was committed already."""
        return effect.link_to or self._linked.get(group)

    def _link(self, number: int, first: str, effect: PathEffect, folder: int, name: str) -> None:
        """Make a path another name of the committed file `first`."""
        staging = self._staging_for(effect.path)
        temporary = f"{number}.link"
        folder = os.dup(folder)
        try:
            source_folder, source_name = self._open_parent(first)
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=staging)
            if _is_same_file(_state(source_folder, source_name), _state(folder, name)):
                return
            self._check(effect, folder, name)
            os.link(
                source_name,
                temporary,
                src_dir_fd=source_folder,
                dst_dir_fd=staging,
                follow_symlinks=False,
            )
            os.rename(temporary, name, src_dir_fd=staging, dst_dir_fd=folder)
        finally:
            os.close(folder)

    def _put_new(self, number: int, effect: PathEffect, folder: int, name: str) -> None:
        """Put a new file at a path: out of the layer, or a copy by way of the staging directory."""
        assert effect.after is not None
        staging = self._staging_for(effect.path)
        is_original = effect.moved_from == effect.source
        if is_original and _was_written(effect.source, effect.after):
            raise PathRejected(CHANGED_REASON)
        if is_original or os.lstat(effect.source).st_dev != os.stat(staging).st_dev:
            copy = f"{number}.copy"
            with suppress(FileNotFoundError):
                os.unlink(copy, dir_fd=staging)
            copy_entry(effect.source, staging, copy, effect.after)
            os.rename(copy, name, src_dir_fd=staging, dst_dir_fd=folder)
            return
        make_parent_writable(effect.source)
        strip_overlay_attributes(effect.source)
        if os.lstat(effect.source).st_mode != effect.after.mode and not effect.after.is_link:
            os.chmod(effect.source, stat.S_IMODE(effect.after.mode))
        os.rename(effect.source, name, dst_dir_fd=folder)

    def _is_put(self, effect: PathEffect, folder: int, name: str) -> bool:
        """Return whether an earlier run wrote the file, but was killed before it recorded this."""
        is_moved = not os.path.lexists(effect.source) or effect.source == effect.moved_from
        return is_moved and self._is_resumed and _is_same(_state(folder, name), effect.after)

    def _check(self, effect: PathEffect, folder: int, name: str) -> None:
        """Raise PathRejected if the path isn't as it was when the plan was made."""
        current, before = _state(folder, name), effect.before
        if current is None and (before is None or before.is_folder or effect.path in self._moved_away):
            return
        if not _is_same(current, before):
            raise PathRejected(CHANGED_REASON)

    def _set_attributes(self, number: int, effect: PathEffect) -> None:
        assert effect.after is not None
        folder, name = self._open_parent(effect.path)
        current = _state(folder, name)
        if number not in self._progress.begun and not _is_same(current, effect.before):
            raise PathRejected(CHANGED_REASON)
        self._journal.note_begun(number)
        copy_attributes(effect.source, folder, name, effect.after)

    def _finish_folder(self, number: int, effect: PathEffect) -> None:
        assert effect.after is not None
        folder, name = self._open_parent(effect.path)
        if effect.source == effect.moved_from and not os.path.lexists(effect.source):
            os.utime(name, ns=(effect.after.mtime_ns,) * 2, dir_fd=folder, follow_symlinks=False)
            return
        copy_attributes(effect.source, folder, name, effect.after, with_time=self._has_own_time(effect.after))

    def _has_own_time(self, state: PathState) -> bool:
        """Return whether to set the mtime. A directory's later mtime may come from committing its members."""
        return not state.is_folder or state.mtime_ns < self._base_ns

    def _staging_for(self, path: str) -> int:
        root, _ = self._split(path)
        if root not in self._staging_folders:
            folder = self._staging_paths[root]
            with suppress(FileExistsError):
                os.mkdir(folder, 0o700)
            self._staging_folders[root] = os.open(folder, _FOLDER_FLAGS)
        return self._staging_folders[root]

    def _open_parent(self, path: str) -> tuple[int, str]:
        if path in self._handles:
            folder = os.open(os.path.dirname(path), _FOLDER_FLAGS)
            self._stack.callback(os.close, folder)
            return folder, os.path.basename(path)
        root, below = self._split(path)
        return self._handles[root].open_parent(below)

    def _split(self, path: str) -> tuple[str, str]:
        for root in self._handles:
            if path == root or path.startswith(f"{root}/"):
                return root, path[len(root) + 1 :]
        raise PathRejected("not in the working directory")


def _state(folder: int, name: str) -> PathState | None:
    try:
        return PathState.of(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_same(current: PathState | None, expected: PathState | None) -> bool:
    """Return whether a path is still in its expected state.

    The ctime isn't compared: it changes with the number of links of a file, and with the name of a moved one.
    """
    if current is None or expected is None:
        return current is expected
    if stat.S_IFMT(current.mode) != stat.S_IFMT(expected.mode):
        return False
    if current.is_folder:
        return current.inode == expected.inode
    return (current.inode, current.size, current.mtime_ns, current.mode) == (
        expected.inode,
        expected.size,
        expected.mtime_ns,
        expected.mode,
    )


def _was_written(path: str, expected: PathState) -> bool:
    """Return whether a file has been written since it was in its expected state."""
    info = os.lstat(path)
    return stat.S_ISREG(info.st_mode) and (info.st_size, info.st_mtime_ns) != (
        expected.size,
        expected.mtime_ns,
    )


def _is_same_file(one: PathState | None, other: PathState | None) -> bool:
    return one is not None and other is not None and (one.device, one.inode) == (other.device, other.inode)


def _reason(error: PathRejected | OSError) -> str:
    return os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)
