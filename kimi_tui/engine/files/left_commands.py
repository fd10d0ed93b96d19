"""Commit of the changes by commands that were running when kimi-tui was killed."""

import asyncio
import logging
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg, msg_n
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.session.notices import build_notice
from kimi_tui.tools.change_tracker import PendingCommit
from kimi_tui.tools.path_scope import printable_name
from kimi_tui.tools.shell.effect_summary import refuse_later_programs
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.workspaces.effects import CommitResult
from kimi_tui.workspaces.left_workspace import LeftWorkspace
from kimi_tui.workspaces.workspaces import Workspaces

_MAX_NAMED = 10
_MAX_COMMAND_CHARS = 200
logger = logging.getLogger(__name__)


class LeftCommands:
    """Commits the changes of one working directory's killed commands, with their calls as authors.

    The changes of commands that the user hadn't allowed are discarded and reported.
    """

    def __init__(
        self, workspaces: Workspaces, *, work_dir: Path, files: SessionFiles, sender: EventSender
    ) -> None:
        self._workspaces = workspaces
        self._work_dir = work_dir
        self._files = files
        self._sender = sender

    async def commit(self) -> None:
        """Commit or discard the changes of all killed commands.

        An error is logged, and that command's workspace stays until the next start.
        """
        for left in await self._workspaces.left_by_killed_processes(self._work_dir):
            try:
                result = await left.complete_commit()
                if result is not None:
                    await self._files.record_commit(left.owner.author, result.done)
                elif left.owner.is_allowed:
                    result = await self._commit_one(left)
                else:
                    await self._discard_one(left)
            except (OSError, KimiTuiError):
                logger.warning("can't commit what a killed command had done", exc_info=True)
                continue
            if result is not None and (result.done or result.failed):
                self._notify(result)

    async def _commit_one(self, left: LeftWorkspace) -> CommitResult:
        plan = await left.plan()
        if left.owner.is_sandboxed:
            plan = await asyncio.to_thread(refuse_later_programs, plan)
        author = left.owner.author
        paths = tuple(effect.path for effect in plan.takes)
        commit = PendingCommit(paths, author.command, plan.renames)
        async with self._files.tracking_by(author, commit):
            result = await left.commit(plan)
        conflicts = {item.effect.path: item.conflict for item in plan.conflicts}
        return CommitResult(result.done, {**conflicts, **result.failed})

    async def _discard_one(self, left: LeftWorkspace) -> None:
        effects = await left.effects()
        await left.discard()
        paths = [effect.path for effect in effects.items if effect.kind != "attributes"]
        if not paths:
            return
        body: str = msg(
            "Command: {command}. Discarded: {paths}.",
            command=sanitize_line(left.owner.author.command)[:_MAX_COMMAND_CHARS],
            paths=", ".join(printable_name(path) for path in paths[:_MAX_NAMED]),
        )
        title = msg("kimi-tui was killed before you allowed the changes of a command.")
        self._sender.send(build_notice(title, body, severity="warning"))

    def _notify(self, result: CommitResult) -> None:
        count = len(result.done)
        body: str = msg_n(
            "The changes to 1 path were applied.", "The changes to {count} paths were applied.", count
        )
        if result.failed:
            names = ", ".join(printable_name(path) for path in list(result.failed)[:_MAX_NAMED])
            body = msg(
                "{result} Skipped, because they changed in the meantime: {paths}.", result=body, paths=names
            )
        self._sender.send(
            build_notice("A command was running when kimi-tui was killed.", body, severity="warning")
        )
