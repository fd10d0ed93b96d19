"""Reads the effects of commands from the layer of an overlay.

The format is described in `Documentation/filesystems/overlayfs.rst` of Linux: a character device 0:0 is a
deletion, and attributes of a directory show whether it replaces the one below (`opaque`) or was moved
(`redirect`). A copy of a file or directory below names its original in the attribute `origin`, a file handle
(`struct ovl_fb`). In a user namespace the handle is empty, and a file with several names lacks the attribute.
"""

import os
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from kimi_tui.base.message_text import msg
from kimi_tui.workspaces.effects import PathEffect, PathState
from kimi_tui.workspaces.overlay.file_comparison import has_same_content, own_attributes
from kimi_tui.workspaces.overlay.lower_tree import LowerTree, is_whiteout
from kimi_tui.workspaces.overlay.supervisor_client import Mode, View

_FILE_HANDLE_HEADER = 21
"""Bytes before the file handle proper: version, magic, length, flags, type, UUID of the file system."""
_TYPE_OFFSET = 4
_INO32_GEN, _INO64_GEN, _BTRFS_TYPES = 0x01, 0x81, (0x4D, 0x4E, 0x4F)

CHANGED = msg("it was changed during the command")
MOVED = msg("it was removed or replaced during the command")


def attribute_prefix(mode: Mode) -> str:
    """Return the prefix of overlayfs's own extended attributes."""
    return "trusted.overlay." if mode == "root" else "user.overlay."


class LayerReader:
    """Reads the layer of one view, whose commands have ended. `read` blocks."""

    def __init__(self, view: View, mode: Mode, base_ns: int) -> None:
        """Create the reader. `base_ns` is the ctime from which on a change was made during the command."""
        self._view = view
        self._lower = LowerTree(view.root, view.prepared)
        self._prefix = attribute_prefix(mode)
        self._base_ns = base_ns
        self._effects: dict[str, PathEffect] = {}
        self._changed_folders: set[str] = set()
        """Directories in which names were created, removed or replaced."""
        self._origins: dict[str, int] = {}
        """Inode of the original of each file that was copied from elsewhere, by path."""
        self._kept: dict[int, str] = {}
        """Path of each file that is still where it was, by its inode in the layer."""

    def read(self) -> list[PathEffect]:
        """Return the effects, sorted by path. Raises OSError."""
        self._merge(self._view.root, self._view.upper, "")
        self._read_attributes(self._view.root, self._view.upper, os.lstat(self._view.upper), "")
        self._find_moved_files()
        return [self._effects[path] for path in sorted(self._effects)]

    def _merge(self, path: str, upper: str, doubt: str) -> None:
        """Read a directory that is merged with the one at the same path."""
        for entry in _scan(upper):
            below = f"{path}/{entry.name}"
            if is_whiteout(info := entry.stat(follow_symlinks=False)):
                self._delete(below, doubt)
            else:
                self._read_entry(below, entry.path, info, below, doubt)

    def _read_entry(self, path: str, upper: str, info: os.stat_result, lower: str | None, doubt: str) -> None:
        """Read an entry of the layer, for `path`, whose original is `lower`."""
        if not stat.S_ISDIR(info.st_mode):
            self._read_file(path, upper, info, doubt)
            return
        if self._attribute(upper, "opaque") == b"y":
            lower = None
        elif redirect := self._attribute(upper, "redirect"):
            lower = self._redirected(os.fsdecode(redirect), lower or path)
        original = self._lower.state(lower) if lower is not None else None
        if original is None or not original.is_folder:
            lower = None
        if not doubt:
            doubt = self._doubt_about_folder(upper, lower, original)
        if lower == path:
            self._merge(path, upper, doubt)
        else:
            self._read_folder(path, upper, info, lower, doubt)
            self._replace(path, upper, lower, doubt)
        self._read_attributes(path, upper, info, doubt)

    def _doubt_about_folder(self, upper: str, lower: str | None, original: PathState | None) -> str:
        """Return why the original of a directory may not be what the command saw."""
        inode = self._origin(upper)
        if inode is None:
            return ""
        if lower is None or original is None:
            return MOVED
        if inode:
            return MOVED if original.inode != inode else ""
        is_renamed = original.ctime_ns >= self._base_ns and original.ctime_ns != original.mtime_ns
        return MOVED if is_renamed else ""

    def _read_folder(
        self, path: str, upper: str, info: os.stat_result, lower: str | None, doubt: str
    ) -> None:
        """Read a directory of the layer that may be a new one."""
        before = self._lower.state(path)
        if before is None or not before.is_folder:
            self._add(
                path,
                PathEffect(
                    path=path,
                    kind="folder",
                    before=before,
                    after=PathState.of(info),
                    source=upper,
                    moved_from=lower or "",
                    doubt=doubt or self._doubt_about(before),
                ),
            )

    def _read_attributes(self, path: str, upper: str, info: os.stat_result, doubt: str) -> None:
        """Read the attributes of a directory, after its members."""
        before, after = self._lower.state(path), PathState.of(info)
        if before is None or not before.is_folder:
            return
        if self._has_new_time(path, before, after) or self._differs(before, after, path, upper):
            if (before.mode, before.owner) != (after.mode, after.owner):
                doubt = doubt or self._doubt_about(before)
            effect = PathEffect(
                path=path,
                kind="attributes",
                before=before,
                after=after,
                source=upper,
                is_in_place=True,
                doubt=doubt,
            )
            self._add(path, effect)

    def _has_new_time(self, path: str, before: PathState, after: PathState) -> bool:
        """Return whether a directory's mtime has to be set: committing its members doesn't do that.

        Either the command set it explicitly, or it removed the files that it had created in the directory.
        Changes of others set it as well.
        """
        if before.mtime_ns >= self._base_ns:
            return False
        is_changed = path in self._changed_folders
        if after.mtime_ns < self._base_ns:
            return is_changed or after.mtime_ns != before.mtime_ns
        return not is_changed

    def _differs(self, before: PathState, after: PathState, path: str, upper: str) -> bool:
        """Return whether attributes differ, except for the mtime of a directory."""
        if (before.mode, before.owner) != (after.mode, after.owner):
            return True
        if not after.is_folder and before.mtime_ns != after.mtime_ns:
            return True
        return own_attributes(self._lower.locate(path) or path) != own_attributes(upper)

    def _replace(self, path: str, upper: str | None, lower: str | None, doubt: str) -> None:
        """Read a directory that contains only the entries of `upper`, and those moved from `lower`."""
        entries = {entry.name: entry for entry in _scan(upper)} if upper is not None else {}
        originals = self._lower.names_in(lower) if lower is not None else ()
        final: dict[str, os.stat_result | None] = dict.fromkeys(originals)
        for name, entry in entries.items():
            if is_whiteout(info := entry.stat(follow_symlinks=False)):
                final.pop(name, None)
            else:
                final[name] = info
        for name in self._lower.names_in(path):
            if name not in final:
                self._delete(f"{path}/{name}", doubt)
        for name, known in final.items():
            original = f"{lower}/{name}" if lower is not None else None
            if known is not None:
                self._read_entry(f"{path}/{name}", entries[name].path, known, original, doubt)
            elif original is not None:
                self._move(original, f"{path}/{name}", doubt)

    def _move(self, original: str, path: str, doubt: str) -> None:
        """Add the effects of moving `original` to `path`."""
        if (after := self._lower.state(original)) is None:
            return
        before = self._lower.state(path)
        doubt = doubt or self._doubt_about(after) or self._doubt_about(before)
        is_folder = after.is_folder
        if not is_folder or before is None or not before.is_folder:
            self._add(
                path,
                PathEffect(
                    path=path,
                    kind="folder" if is_folder else "write",
                    before=before,
                    after=after,
                    source=self._lower.locate(original) or original,
                    moved_from=original,
                    doubt=doubt,
                ),
            )
        if before is not None and before.is_folder and not is_folder:
            self._delete_members(path, doubt)
        if is_folder:
            self._replace(path, None, original, doubt)

    def _delete(self, path: str, doubt: str) -> None:
        if (before := self._lower.state(path)) is None:
            return
        doubt = doubt or self._doubt_about(before)
        self._add(path, PathEffect(path=path, kind="delete", before=before, after=None, doubt=doubt))
        if before.is_folder:
            self._delete_members(path, doubt)

    def _delete_members(self, path: str, doubt: str) -> None:
        for name in self._lower.names_in(path):
            self._delete(f"{path}/{name}", doubt)

    def _read_file(self, path: str, upper: str, info: os.stat_result, doubt: str) -> None:
        before, after = self._lower.state(path), PathState.of(info)
        inode = self._origin(upper)
        is_copy = inode is not None
        is_in_place = (
            is_copy
            and before is not None
            and stat.S_IFMT(before.mode) == stat.S_IFMT(after.mode)
            and inode in {0, before.inode}
        )
        if before is not None and before.is_folder:
            self._delete_members(path, doubt)
        effect = PathEffect(
            path=path,
            kind="write",
            before=before,
            after=after,
            source=upper,
            is_in_place=is_in_place,
            doubt=doubt or self._doubt_about(before),
        )
        _make_readable(upper, info)
        if is_in_place:
            self._kept[after.inode] = path
        if (
            before is not None
            and (is_in_place or after.is_link)
            and _has_same_content(self._lower.locate(path) or path, upper, effect)
        ):
            if not self._differs(before, after, path, upper):
                return
            if not after.is_link:
                effect = replace(effect, kind="attributes")
        if is_copy and not is_in_place:
            self._origins[path] = inode or 0
        self._add(path, effect)

    def _find_moved_files(self) -> None:
        """Find where files come from that were copied from another path: the command moved or linked them.

        If their original is gone, it was removed or replaced during the command.
        """
        replaced = {
            path: effect.before
            for path, effect in self._effects.items()
            if not effect.is_in_place and effect.before is not None and not effect.before.is_folder
        }
        originals = _OriginalFiles(replaced)
        for path, inode in self._origins.items():
            effect = self._effects[path]
            assert effect.after is not None
            if (kept := self._kept.get(effect.after.inode)) is not None:
                self._effects[path] = replace(effect, link_to=kept)
            elif (original := originals.take(inode, effect.after)) is not None:
                doubt = effect.doubt or self._doubt_about(replaced[original])
                self._effects[path] = replace(effect, moved_from=original, doubt=doubt)
            elif not originals.may_contain(inode):
                self._effects[path] = replace(effect, doubt=effect.doubt or MOVED)

    def _doubt_about(self, before: PathState | None) -> str:
        return CHANGED if before is not None and before.ctime_ns >= self._base_ns else ""

    def _redirected(self, redirect: str, lower: str) -> str:
        """Return the original of a moved directory: a path in the view, or a name in the same directory."""
        if redirect.startswith("/"):
            return self._view.root + redirect
        return f"{os.path.dirname(lower)}/{redirect}"

    def _add(self, path: str, effect: PathEffect) -> None:
        self._effects[path] = effect
        if not effect.is_in_place:
            self._changed_folders.add(path.rpartition("/")[0])

    def _attribute(self, upper: str, name: str) -> bytes:
        with suppress(OSError):
            return os.getxattr(upper, f"{self._prefix}{name}", follow_symlinks=False)
        return b""

    def _origin(self, upper: str) -> int | None:
        """Return the inode of the original; 0 if it is unknown, None if there is no original."""
        try:
            handle = os.getxattr(upper, f"{self._prefix}origin", follow_symlinks=False)
        except OSError:
            return None
        return _inode_of(handle)


class _OriginalFiles:
    """Files of the working directory that the command removed or replaced: the originals of moved files."""

    def __init__(self, states: Mapping[str, PathState]) -> None:
        self._paths = {state.inode: path for path, state in states.items()}
        self._known = frozenset(self._paths)
        self._by_content: dict[tuple[int, int], list[int]] = {}
        for state in states.values():
            self._by_content.setdefault((state.size, state.mtime_ns), []).append(state.inode)

    def take(self, inode: int, after: PathState) -> str | None:
        """Return the path of the original, which can be that of one file only.

        If `inode` is unknown, it is a file with the same size and mtime as the state `after` the move.
        """
        if inode:
            return self._paths.pop(inode, None)
        for candidate in self._by_content.get((after.size, after.mtime_ns), ()):
            if (path := self._paths.pop(candidate, None)) is not None:
                return path
        return None

    def may_contain(self, inode: int) -> bool:
        """Return whether the original may be one of these files; an unknown one, if any isn't taken yet."""
        return inode in self._known if inode else bool(self._paths)


def _inode_of(handle: bytes) -> int:
    """Return the inode in a file handle; 0 if its format is unknown."""
    kind, fields = handle[_TYPE_OFFSET : _TYPE_OFFSET + 1], handle[_FILE_HANDLE_HEADER:]
    number = kind[0] if kind else 0
    if number == _INO32_GEN and len(fields) == 8:
        return int(struct.unpack("=I", fields[:4])[0])
    if number == _INO32_GEN and len(fields) >= 12:  # tmpfs: generation, and the inode in two parts
        low, high = struct.unpack("=II", fields[4:12])
        return int(low | high << 32)
    if (number == _INO64_GEN or number in _BTRFS_TYPES) and len(fields) >= 8:
        return int(struct.unpack("=Q", fields[:8])[0])
    return 0


def _scan(upper: str) -> Iterator["os.DirEntry[str]"]:
    """Yield the entries of a directory of the layer. If its mode forbids that, change the mode."""
    try:
        with os.scandir(upper) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)
    except PermissionError:
        os.chmod(upper, 0o700)
        with os.scandir(upper) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)


def _make_readable(upper: str, info: os.stat_result) -> None:
    """Let the owner read a file of the layer; the effect has the true mode."""
    if stat.S_ISREG(info.st_mode) and not info.st_mode & stat.S_IRUSR and os.geteuid() != 0:
        os.chmod(upper, stat.S_IMODE(info.st_mode) | stat.S_IRUSR | stat.S_IWUSR)


def _has_same_content(path: str, upper: str, effect: PathEffect) -> bool:
    before, after = effect.before, effect.after
    if before is None or after is None or stat.S_IFMT(before.mode) != stat.S_IFMT(after.mode):
        return False
    if after.is_link:
        return os.readlink(path) == os.readlink(upper)
    return not after.is_file or (before.size == after.size and has_same_content(path, upper))
