"""History of a path: its states since a checkpoint, and who made the changes."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.history.snapshots.manifest import Manifest
from kimi_tui.history.snapshots.other_sessions import OtherSessionChanges
from kimi_tui.wire.timeline import WhoChanged

_MAX_COMMAND_CHARS = 40
"""Maximum length of a command in a note."""
_NOW_IGNORED = Entry("omitted", 0, 0, "ignored now")


@dataclass(slots=True)
class PathHistory:
    """The changes of one path since the target state, oldest first."""

    states: list[Entry | None]
    is_agents: list[bool] = field(default_factory=list)
    """For each change from one state to the next, whether the agent made it, so that the plan undoes it."""
    task: str = ""
    """The background task that may have made a change."""
    is_yours: bool = False
    """Whether a change may be the user's: neither the agent's nor known to be another session's."""
    is_uncertain: bool = False
    """Whether a change that counts as the agent's may be another session's."""
    command: str = ""
    """The last command or tool of the agent that ran while the path changed, so that anyone may have changed
    it; empty if the agent's changes are known exactly.
    """

    @property
    def by(self) -> WhoChanged:
        """Who made the changes."""
        if self.is_uncertain:
            return "agent or another session"
        if all(self.is_agents):
            return "agent"
        if any(self.is_agents):
            return "both" if self.is_yours else "agent and another session"
        return "you" if self.is_yours else "another session"

    @property
    def other_author(self) -> str:
        """Who made changes besides the agent."""
        if self.task:
            return msg("you or `{task}`", task=shorten_command(self.task))
        return msg("you") if self.is_yours else msg("another session")


def build_path_histories(
    records: Iterable[Manifest],
    target_entries: Entries,
    *,
    sessions: Collection[str],
    only: Collection[str] | None,
    other_session_changes: OtherSessionChanges,
) -> dict[str, PathHistory]:
    """Return the changes of each path in `records`, which follow the state with `target_entries`.

    The arguments are those of `Planner` and `Planner.plan`.
    """
    histories: dict[str, PathHistory] = {}
    found: dict[str, Entry | None] = {}
    """Files that became covered, without a change."""
    for record in records:
        is_agents = record.author.who in {"call", "revert"} and record.author.session in sessions
        is_agents = is_agents and (only is None or record.id in only)
        is_others = record.author.is_tool_of_other_session(sessions)
        for path, entry in record.changes.items():
            if record.author.who == "coverage":
                entry = _NOW_IGNORED if entry is None else entry
                if path not in histories:
                    found[path] = entry
                    continue
            if (history := histories.get(path)) is None:
                base = found[path] if path in found else target_entries.get(path)
                history = histories[path] = PathHistory([base])
            history.states.append(entry)
            is_others_change = is_others or (record.id, path) in other_session_changes.known
            history.is_agents.append(is_agents and not is_others_change)
            history.is_uncertain |= is_agents and (record.id, path) in other_session_changes.possible
            history.is_yours |= not is_agents and not is_others_change
            if is_agents and record.author.began:
                history.command = record.author.command or record.author.tool
            if record.author.who == "background":
                history.task = record.author.command or record.author.call
    return histories


def shorten_command(command: str) -> str:
    """Return a command as it appears in a note."""
    line = sanitize_line(command)
    return line if len(line) <= _MAX_COMMAND_CHARS else f"{line[: _MAX_COMMAND_CHARS - 1]}…"
