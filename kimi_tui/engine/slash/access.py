"""The slash commands /afk and /add-dir, which extend the agent's permissions."""

import asyncio
from pathlib import Path

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.session.modes import Modes
from kimi_tui.engine.session.pending_notes import PendingNotes
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.slash.registry import SlashCommand
from kimi_tui.history.session import Session
from kimi_tui.soul.wire_approval import WireApproval
from kimi_tui.tools.path_scope import PathScope


def afk_command(modes: Modes, publisher: SessionPublisher) -> SlashCommand:
    """Return the command that turns afk mode on and off."""

    async def run(argument: str) -> None:
        if argument not in ("", "on", "off"):
            raise UsageError("/afk takes on or off.", hint="Type /afk to switch the mode.")
        await modes.set_afk(argument == "on" if argument else not modes.is_afk)
        title = msg("Afk mode: on") if modes.is_afk else msg("Afk mode: off")
        body = "Everything is approved, and questions are dismissed." if modes.is_afk else ""
        publisher.send_notice(title, body, severity="info")

    return SlashCommand("afk", "Approve everything and dismiss questions: /afk [on|off]", run)


class AddDirCommand:
    """Adds directories to the session, so that the agent works in them as in the working directory."""

    def __init__(
        self,
        *,
        session: Session,
        scope: PathScope,
        approval: WireApproval,
        notes: PendingNotes,
        publisher: SessionPublisher,
    ) -> None:
        self._session = session
        self._scope = scope
        self._approval = approval
        self._notes = notes
        self._publisher = publisher

    @property
    def command(self) -> SlashCommand:
        """The slash command."""
        return SlashCommand(
            "add-dir",
            "Add a directory for the agent to work in: /add-dir [PATH]",
            self._run,
            argument="[path]",
        )

    async def _run(self, argument: str) -> None:
        """Add the directory, or list the added ones. Raises UsageError, FileProblem."""
        if not argument:
            added = "\n".join(map(str, self._scope.additional_dirs))
            self._publisher.send_notice(
                "Added directories", added or "None. Add one with /add-dir PATH.", severity="info"
            )
            return
        path = Path(self._session.work_dir, Path(argument).expanduser())
        folder = await asyncio.to_thread(path.resolve)
        if not await asyncio.to_thread(folder.is_dir):
            raise UsageError(
                msg("{path} isn't a directory.", path=folder), hint="Give the path of an existing directory."
            )
        if self._scope.is_inside(folder):
            raise UsageError(
                msg("The agent works in {path} already.", path=folder), hint="List them with /add-dir."
            )
        self._scope.add_dir(folder)
        self._approval.add_dir(folder)
        await self._session.update_state(additional_dirs=tuple(map(str, self._scope.additional_dirs)))
        self._notes.add(
            f"The user added the directory {self._scope.display_path(folder)} to the session. "
            "Work in it as in the working directory."
        )
        self._publisher.send_notice(msg("Added {path}", path=folder), "", severity="info")
