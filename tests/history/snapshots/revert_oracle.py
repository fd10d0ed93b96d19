"""Oracle for random orders of edits and reverts: its own copies of the files, and who really changed them."""

import os
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

IGNORE_FILE = ".gitignore"
IGNORE_RULES = ("", "ign/\n", "*.log\n", "ign/\n*.log\n", "d/\n")

Files = dict[str, tuple[str, int, bytes]]
"""Path -> kind (`file`, `link` or `folder`), permission bits, and content or target."""


@dataclass(frozen=True, slots=True)
class Event:
    """A change of one path."""

    path: str
    author: str
    """`user`, or the session whose agent or revert made it."""
    running: frozenset[str]
    """The sessions that were running a command."""


@dataclass(slots=True)
class State:
    """A recorded state."""

    session: str
    manifest: str
    n_events: int
    """The number of events before it."""
    files: Files


@dataclass(slots=True)
class Oracle:
    """A working directory with a record of what really happened in it."""

    work: Path
    max_size: int
    """Larger files aren't stored."""
    events: list[Event] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    lines: dict[str, tuple[int, bool]] = field(default_factory=dict)
    """The user's lines: the number of events before each, and whether no command was running."""
    owed: set[str] = field(default_factory=set)
    """The user's lines that were covered when someone else was about to change files."""
    identities: dict[str, int] = field(default_factory=dict)
    """Which file each path has. A file keeps its number when it is renamed; 0 if it isn't known."""
    former_names: dict[str, set[str]] = field(default_factory=dict)
    """The names that the file at each path had before."""
    left_names: set[str] = field(default_factory=set)
    """The names that running commands have renamed. A file that one of them creates there counts as a new
    content of the old file, as if that had been copied.
    """
    lines_of: dict[int, set[str]] = field(default_factory=dict)
    """The user's lines that were written to each file of known number."""

    uncovered: set[str] = field(default_factory=set)
    """Paths that were ignored at some time, so that their renames weren't seen."""
    uncovered_numbers: set[int] = field(default_factory=set)
    """The numbers of the files that were at these paths."""
    exchanged_by: dict[int, set[str]] = field(default_factory=dict)
    """The sessions whose reverts wrote the content of each file at a name in use. Others can't tell that
    from a copy.
    """
    exchanged: list[tuple[str, str]] = field(default_factory=list)
    """The paths of such files whose numbers aren't known yet, with the session."""
    overlaps: list[int] = field(default_factory=list)
    """The number of events before each time at which the sessions began to run commands simultaneously."""
    was_partial: bool = False
    """Whether there were more files than are covered, or a file that isn't stored took part in a rename."""

    def files(self) -> Files:
        """Return a copy of everything in the directory."""
        found: Files = {}
        for path in sorted(self.work.rglob("*")):
            info = path.lstat()
            name = str(path.relative_to(self.work))
            mode = stat.S_IMODE(info.st_mode)
            if stat.S_ISLNK(info.st_mode):
                found[name] = "link", 0o777, os.fsencode(path.readlink())
            elif stat.S_ISDIR(info.st_mode):
                found[name] = "folder", mode, b""
            else:
                found[name] = "file", mode, path.read_bytes()
        return found

    def record(self, author: str, before: Files) -> None:
        """Record what has changed since `before` as changes by `author`."""
        after = self.files()
        ignored = {path for path in after if self.is_ignored(path)}
        self.uncovered |= ignored
        self.uncovered_numbers |= {self.identities.get(path, 0) for path in ignored}
        self.was_partial |= any(path.startswith("bulk/") for path in after)
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) != after.get(path):
                self.events.append(Event(path, author, frozenset(self.running)))

    def user_line(self) -> str:
        """Return a new line by the user."""
        line = f"user {len(self.lines)}\n"
        self.lines[line] = len(self.events), not self.running
        return line

    def add_line(self, path: str, line: str) -> None:
        """Record that the user has written a line to a file, unless that has other names."""
        if (self.work / path).stat().st_nlink > 1:
            return
        number = self.identities.setdefault(path, 1 + max((0, *self.identities.values(), *self.lines_of)))
        if number:
            self.lines_of.setdefault(number, set()).add(line)

    def mixed_files(self, session: str = "") -> list[str]:
        """Return the files that contain lines which the user wrote to different files that were covered.

        With `session`, only those are meant whose names it can know.
        Updates which file each path has, as a revert may have renamed them.
        """
        known = {line: number for number, lines in self.lines_of.items() for line in lines}
        mixed = []
        for path, entry in self.files().items():
            if entry[0] != "file":
                continue
            numbers = {known[line] for line in self.lines_in({path: entry}) if line in known}
            self.identities[path] = next(iter(numbers)) if len(numbers) == 1 else 0
            is_seen = not self.was_partial and path not in self.uncovered
            is_seen &= not any(self.exchanged_by.get(number, set()) - {session} for number in numbers)
            if len(numbers) > 1 and is_seen and not (numbers | {0}) & self.uncovered_numbers:
                mixed.append(path)
        for path, by in self.exchanged:
            self.exchanged_by.setdefault(self.identities.get(path, 0), set()).add(by)
        self.exchanged.clear()
        return mixed

    def _rename_identities(self, moves: dict[str, str]) -> None:
        """Record that files were renamed: old path -> new path, each also that of a directory."""
        moved: dict[str, int] = {}
        former: dict[str, set[str]] = {}
        self.was_partial |= any(
            len(entry[2]) > self.max_size
            for path, entry in self.files().items()
            if any(f"{path}/".startswith(f"{new}/") for new in moves.values())
        )
        if self.running:
            self.left_names |= {path for path in self.identities if any(
                f"{path}/".startswith(f"{old}/") for old in moves
            )}  # fmt: skip
        for path in self.files():
            for old, new in moves.items():
                if f"{path}/".startswith(f"{new}/"):
                    before = old + path[len(new) :]
                    former[path] = {before, *self.former_names.get(before, ())}
        self.former_names |= former
        for path in list(self.identities):
            for old, new in moves.items():
                if f"{path}/".startswith(f"{old}/"):
                    moved[new + path[len(old) :]] = self.identities.pop(path)
        self.identities |= moved

    def note_renames(self, session: str, renames: Mapping[str, str]) -> None:
        """Note that a revert of `session` has renamed files: new path -> old path."""
        self.exchanged += [
            (path, session) for path, old in renames.items() if os.path.lexists(self.work / old)
        ]
        former = {path: {old, *self.former_names.get(old, ())} for path, old in renames.items()}
        for path, names in former.items():
            self.former_names[path] = names | self.former_names.get(path, set())

    def forget_files(self, paths: Collection[str]) -> None:
        """Forget which files are at some paths, and which lines they have."""
        for path, number in self.identities.items():
            if any(f"{path}/".startswith(f"{each}/") for each in paths):
                self.lines_of.pop(number, None)
                self.identities[path] = 0

    def forget_authors(self, paths: Collection[str]) -> None:
        """Note that nobody can tell who gave other paths the lines at some paths, as a command is running."""
        files = self.files()
        for line in self.lines_in({path: files[path] for path in paths if path in files}):
            self.lines[line] = self.lines[line][0], False

    def forget_replaced_files(self, known: Mapping[str, int], renames: Mapping[str, str]) -> None:
        """Forget which file is at a path where a revert wrote the content of another one, as it was selected.

        `known` are the identities before, and `renames` those that it recorded.
        """
        self.forget_files(
            {
                path
                for path, number in self.identities.items()
                if path in known and known[path] != number and path not in renames
            }
        )

    def lines_in(self, files: Files) -> set[str]:
        """Return the user's lines in `files`."""
        text = b"".join(content + b"\n" for kind, _, content in files.values() if kind == "file")
        present = set(text.split(b"\n"))
        return {line for line in self.lines if line.strip().encode() in present}

    def is_ignored(self, path: str) -> bool:
        """Return whether the ignore rules cover `path` now."""
        file = self.work / IGNORE_FILE
        rules = file.read_text() if file.is_file() and not file.is_symlink() else ""
        folders = path.split("/")[:-1]
        return any(
            (rule == "*.log" and any(name.endswith(".log") for name in path.split("/")))
            or (rule.endswith("/") and rule[:-1] in folders)
            for rule in rules.split("\n")
        )

    def authors_since(self, n_events: int, path: str) -> set[str]:
        """Return who changed `path` after the first `n_events` events."""
        return {event.author for event in self.events[n_events:] if event.path == path}

    def may_be_changed_by(self, session: str, n_events: int, path: str) -> bool:
        """Return whether a scan can't exclude that `session` changed the file at `path` after the first
        `n_events`.

        With more files than are covered, a session doesn't record which new files its command created, so
        that they may be those of a command of another session.
        """
        names = {path, *self.former_names.get(path, ())}
        is_partial = any(event.path.startswith("bulk/") for event in self.events)
        return any(
            event.author == session or (session in event.running and (event.author == "user" or is_partial))
            for event in self.events[n_events:]
            if event.path in names
        )

    # changes of the files, by anyone

    def write(self, path: str, text: str) -> None:
        """Write a file in place. Whatever is in the way is removed."""
        full_path = self._make_room(path)
        if path in self.left_names and not full_path.exists():
            self.identities[path] = 0
        with full_path.open("w", newline="") as file:
            file.write(text)

    def read(self, path: str) -> str:
        """Return the text of a file; empty if it isn't one."""
        full_path = self.work / path
        is_file = full_path.is_file() and not full_path.is_symlink()
        return full_path.read_bytes().decode() if is_file else ""

    def link(self, path: str, to: str) -> None:
        """Make `path` a hard link to the file `to`, if that exists."""
        source = self.work / to
        if path != to and source.is_file() and not source.is_symlink():
            full_path = self._make_room(path)
            full_path.unlink(missing_ok=True)
            if source.exists():
                os.link(source, full_path)
                self.identities[path] = self.identities.get(to, 0)
                names = {path, to, *self.former_names.get(to, ())}
                self.former_names |= {path: names, to: names}

    def symlink(self, path: str) -> None:
        """Make `path` a symbolic link."""
        full_path = self._make_room(path)
        full_path.unlink(missing_ok=True)
        full_path.symlink_to("target")

    def move(self, path: str, to: str) -> None:
        """Rename a file, or a directory to a name that doesn't exist."""
        source, target = self.work / path, self.work / to
        is_inside = f"{to}/".startswith(f"{path}/") or path.startswith(f"{to}/")
        if is_inside or not os.path.lexists(source) or target.is_dir():
            return
        if source.is_dir() and not source.is_symlink() and os.path.lexists(target):
            return
        if os.path.lexists(target) and os.path.samestat(source.lstat(), target.lstat()):
            return  # two names of one file stay
        self._make_room(to)
        if os.path.lexists(source):
            source.rename(target)
            self._rename_identities({path: to})

    def swap(self, path: str, other: str) -> None:
        """Let two files or directories swap their names."""
        paths = self.work / path, self.work / other
        if f"{path}/".startswith(f"{other}/") or f"{other}/".startswith(f"{path}/"):
            return
        if all(map(os.path.lexists, paths)):
            temporary = self.work / "temporary"
            paths[0].rename(temporary)
            paths[1].rename(paths[0])
            temporary.rename(paths[1])
            self._rename_identities({path: other, other: path})

    def delete(self, path: str) -> None:
        """Remove a file, a link or a whole directory."""
        full_path = self.work / path
        if full_path.is_dir() and not full_path.is_symlink():
            remove_tree(full_path)
        elif os.path.lexists(full_path):
            full_path.unlink()

    def set_mode(self, path: str, mode: int) -> None:
        """Set the permission bits of a file or directory."""
        full_path = self.work / path
        if os.path.lexists(full_path) and not full_path.is_symlink():
            full_path.chmod(mode | 0o555 if full_path.is_dir() else mode)

    def _make_room(self, path: str) -> Path:
        full_path = self.work / path
        for parent in reversed(full_path.relative_to(self.work).parents):
            folder = self.work / parent
            if folder.is_symlink() or folder.is_file():
                folder.unlink()
            folder.mkdir(exist_ok=True)
            if not folder.stat().st_mode & stat.S_IWUSR and os.geteuid() != 0:
                folder.chmod(0o755)
        if full_path.is_symlink():
            full_path.unlink()
        elif full_path.is_dir():
            remove_tree(full_path)
        return full_path


def remove_tree(folder: Path) -> None:
    """Remove a directory, also a read-only one."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    folder.chmod(0o755)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    folder.rmdir()
