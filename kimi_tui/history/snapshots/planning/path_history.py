"""History of a path: its states since a checkpoint, and who made the changes."""

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.history.snapshots.manifest import Manifest
from kimi_tui.history.snapshots.other_sessions import OtherSessionChanges
from kimi_tui.history.snapshots.planning.others_lines import EntryChanges
from kimi_tui.wire.timeline import WhoChanged

_MAX_COMMAND_CHARS = 40
"""Maximum length of a command in a note."""
_NOW_IGNORED = Entry("omitted", 0, 0, "ignored now")


@dataclass(slots=True)
class PathHistory:
    """The changes of one path since the target state, oldest first."""

    states: list[Entry | None]
    is_agents: list[bool] = field(default_factory=list)
    """For each change from one state to the next, whether the plan undoes it because the agent made it."""
    task: str = ""
    """The background task that may have made a change."""
    is_yours: bool = False
    """Whether a change may be the user's: neither the agent's nor known to be another session's."""
    is_uncertain: bool = False
    """Whether a change that counts as the agent's may be another session's."""
    command: str = ""
    """The agent's last command or tool that ran while the path changed.

    Someone else may have made the change. Empty if the agent's changes are known exactly.
    """
    renames: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The old and the new path of each rename, by the index of the change."""

    def split(self, index: int) -> "tuple[PathHistory, PathHistory]":
        """Return the history up to `states[index]`, and the history of the file created afterwards."""
        is_removed = self.states[index + 1] is None
        first = index + 1 if is_removed else index
        """Index of the first change in the later history."""
        earlier = replace(
            self,
            states=[*self.states[: index + 1], None],
            is_agents=self.is_agents[: index + 1],
            renames={number: names for number, names in self.renames.items() if number <= index},
        )
        later = replace(
            self,
            states=[None, *self.states[index + 1 + is_removed :]],
            is_agents=self.is_agents[first:],
            renames={number - first: names for number, names in self.renames.items() if number >= first},
        )
        return earlier, later

    @property
    def former_names(self) -> set[str]:
        """The paths that the file or directory had before its renames."""
        return {old for old, _ in self.renames.values()}

    def undo_agent_renames(self, path: str) -> str:
        """Return the name of the file at `path` without the agent's renames. Renames by others stay."""
        for index in sorted(self.renames, reverse=True):
            old, new = self.renames[index]
            if self.is_agents[index] and path == new:
                path = old
        return path

    def first_name(self, path: str) -> str:
        """Return the name in the target state of the file that is, or was last, at `path`."""
        for index in sorted(self.renames, reverse=True):
            old, new = self.renames[index]
            path = old if path == new else path
        return path

    @property
    def by(self) -> WhoChanged:
        """The authors of the changes."""
        if self.is_uncertain:
            return "agent or another session"
        if all(self.is_agents):
            return "agent"
        if any(self.is_agents):
            return "both" if self.is_yours else "agent and another session"
        return "you" if self.is_yours else "another session"

    @property
    def other_author(self) -> str:
        """The authors besides the agent, for notes."""
        if self.task:
            return msg("you or `{task}`", task=shorten_command(self.task))
        return msg("you") if self.is_yours else msg("another session")


@frozen
class PathHistories:
    """The histories of all paths that have changed.

    A file or directory that was renamed has one history, at its newest path.
    """

    current: dict[str, PathHistory] = field(default_factory=dict)
    replaced: list[tuple[str, PathHistory]] = field(default_factory=list)
    """(path, history) of files that no longer exist because something else was renamed to their path."""
    changes_by_others: list[EntryChanges] = field(default_factory=list)
    """Changes by others than the agent, and reverts, by record, oldest first. Renames aren't followed."""


def build_path_histories(
    records: Iterable[Manifest],
    target_entries: Entries,
    *,
    sessions: Collection[str],
    only: Collection[str] | None,
    other_session_changes: OtherSessionChanges,
) -> PathHistories:
    """Return the changes in `records`, which follow the state with `target_entries`.

    The other arguments are those of `Planner` and `Planner.plan`.
    """
    builder = _HistoryBuilder(target_entries, frozenset(sessions), only, other_session_changes)
    for record in records:
        builder.add(record)
    return PathHistories(builder.histories, builder.replaced, builder.changes_by_others)


class _HistoryBuilder:
    """Builds the histories of paths from records."""

    def __init__(
        self,
        target_entries: Entries,
        sessions: Collection[str],
        only: Collection[str] | None,
        other_session_changes: OtherSessionChanges,
    ) -> None:
        self.histories: dict[str, PathHistory] = {}
        self.replaced: list[tuple[str, PathHistory]] = []
        self.changes_by_others: list[EntryChanges] = []
        """As in `PathHistories`."""
        self._last: dict[str, Entry | None] = {}
        """The last state of each path."""
        self._target_entries = target_entries
        self._sessions = sessions
        self._only = only
        self._other_session_changes = other_session_changes
        self._found: dict[str, Entry | None] = {}
        """Files that became covered, without a change."""
        self._left: set[str] = set()
        """Old paths of files and directories that have another name now."""

    def add(self, record: Manifest) -> None:
        """Add the changes of a record."""
        self._add_changes_by_others(record)
        self._last |= record.changes
        if record.author.who == "coverage":
            self._add_coverage(record)
            return
        self._follow_renames(record)
        left = set(record.renames.values())
        for path, entry in record.changes.items():
            if path in left and path not in record.renames and entry is None:
                continue
            if entry is not None and path not in record.renames:
                self._resume_replaced(path, record)
            history = self._history_at(path)
            if _has_other_type(history, entry) and history.undo_agent_renames(path) != path:
                self._replace(path, record)  # the renamed file or directory doesn't exist any longer
                self._left.add(path)
                history = self._history_at(path)
            if path in record.renames:
                history.renames[len(history.is_agents)] = record.renames[path], path
            self._add_change(history, record, path, entry)

    def _add_changes_by_others(self, record: Manifest) -> None:
        if record.author.who == "coverage":
            return
        is_revert = record.author.who == "revert" and self._is_agents(record)
        changes = {
            path: (self._last[path] if path in self._last else self._target_entries.get(path), entry)
            for path, entry in record.changes.items()
            if is_revert or not self._is_undone(record, path)
        }
        if changes:
            self.changes_by_others.append(EntryChanges(changes, is_revert))

    def _add_coverage(self, record: Manifest) -> None:
        for path, entry in record.changes.items():
            entry = _NOW_IGNORED if entry is None else entry
            if path in self.histories:
                self._add_change(self.histories[path], record, path, entry)
            else:
                self._found[path] = entry

    def _follow_renames(self, record: Manifest) -> None:
        """Move the histories of renamed paths, all together: files may swap their names."""
        moved = {path: self._take_history(old) for path, old in record.renames.items()}
        left = set(record.renames.values())
        for path in record.renames:
            if path not in left:
                self._replace(path, record)
        for old in left:
            self.histories.pop(old, None)
            self._left.add(old)
        self.histories |= moved

    def _take_history(self, path: str) -> PathHistory:
        """Return the history of the file or directory that is renamed from `path`.

        If a file was there before a directory, or the other way round, the earlier history ends.
        """
        history = self._history_at(path)
        kinds = [_is_folder(entry) if entry is not None else None for entry in history.states]
        index = next((it for it in range(len(kinds) - 1, -1, -1) if kinds[it] == (not kinds[-1])), None)
        if kinds[-1] is None or index is None:
            return history
        earlier, later = history.split(index)
        if any(earlier.states):
            self.replaced.append((path, earlier))
        return later

    def _replace(self, path: str, record: Manifest) -> None:
        """End the history of `path`, since another file or directory is renamed to it."""
        history = self._history_at(path)
        del self.histories[path]
        if history.states[-1] is not None:
            self._add_change(history, record, path, None)
        if any(history.states):
            self.replaced.append((path, history))

    def _resume_replaced(self, path: str, record: Manifest) -> None:
        """Continue the history of a file that was replaced after it left `path`, if a revert restores it.

        If a revert creates a file at a path that another file left, it restores the file that was there.
        """
        if not self._is_agents(record) or record.author.who != "revert":
            return
        if path in self.histories or path not in self._left:
            return
        for index in range(len(self.replaced) - 1, -1, -1):
            replaced_at, history = self.replaced[index]
            if path in history.former_names or path == replaced_at:
                del self.replaced[index]
                if path != replaced_at:
                    history.renames[len(history.is_agents)] = replaced_at, path
                self.histories[path] = history
                return

    def _history_at(self, path: str) -> PathHistory:
        if (history := self.histories.get(path)) is None:
            base = self._found[path] if path in self._found else self._target_entries.get(path)
            history = self.histories[path] = PathHistory([None if path in self._left else base])
        return history

    def _add_change(self, history: PathHistory, record: Manifest, path: str, entry: Entry | None) -> None:
        author = record.author
        is_agents = self._is_agents(record) and (self._only is None or record.id in self._only)
        is_others = self._is_other_sessions(record, path)
        history.states.append(entry)
        history.is_agents.append(self._is_undone(record, path))
        history.is_uncertain |= is_agents and (record.id, path) in self._other_session_changes.possible
        history.is_yours |= not is_agents and not is_others
        if is_agents and author.began:
            history.command = author.command or author.tool
        if author.who == "background":
            history.task = author.command or author.call

    def _is_undone(self, record: Manifest, path: str) -> bool:
        """Return whether the plan undoes a change."""
        is_agents = self._is_agents(record) and (self._only is None or record.id in self._only)
        return is_agents and not self._is_other_sessions(record, path)

    def _is_other_sessions(self, record: Manifest, path: str) -> bool:
        is_tools = record.author.is_tool_of_other_session(self._sessions)
        return is_tools or (record.id, path) in self._other_session_changes.known

    def _is_agents(self, record: Manifest) -> bool:
        """Return whether a tool call or revert of this session made the changes of a record."""
        return record.author.is_tool and record.author.session in self._sessions


def _has_other_type(history: PathHistory, entry: Entry | None) -> bool:
    """Return whether a directory has replaced a file, or the other way round."""
    last = history.states[-1]
    return last is not None and entry is not None and _is_folder(last) != _is_folder(entry)


def _is_folder(entry: Entry) -> bool:
    return entry.kind == "folder"


def display_name(path: str) -> str:
    """Return a path as it appears in a note."""
    return sanitize_line(os.fsencode(path).decode("utf-8", "replace"))


def shorten_command(command: str) -> str:
    """Return a command as it appears in a note."""
    line = sanitize_line(command)
    return line if len(line) <= _MAX_COMMAND_CHARS else f"{line[: _MAX_COMMAND_CHARS - 1]}…"
