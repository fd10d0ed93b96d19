"""Workspaces of sub-agents. When a sub-agent ends, its changes are adopted into the working directory."""

import asyncio
import logging
import os
import shutil
import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.shielding import run_in_thread_shielded, run_shielded
from kimi_tui.engine.attempts.attempt_service import AttemptService
from kimi_tui.engine.attempts.attempt_store import AttemptStore, StoredAttempt
from kimi_tui.engine.build.injection import Dependencies
from kimi_tui.engine.files.checkpoint_views import CheckpointViews
from kimi_tui.engine.files.coverage import HistoryPaths, display_path
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.session.notices import build_notice
from kimi_tui.history.context import Context
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.history.snapshots.entry import Changes
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.tools.file.client_editor import NO_EDITOR, Editor
from kimi_tui.tools.file.created_files import CreatedFiles
from kimi_tui.tools.file.read_tracker import FileTracker
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.tools.shell.isolated_commands import IsolatedCommands
from kimi_tui.tools.shell.private_command import PrivateCommands
from kimi_tui.tools.shell.shell import Shell
from kimi_tui.tools.shell.trial_runs import BoundsBuilder, TrialRuns
from kimi_tui.wire.attempts import Attempt
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.workspaces.checkpoint.private_view import ChangedPath
from kimi_tui.workspaces.overlay.lasting_view import LastingView
from kimi_tui.workspaces.workspaces import Workspaces

logger = logging.getLogger(__name__)

NOTE = (
    "You work in a private copy of the project, at the same paths. Nobody else sees your changes, and you "
    "don't see those of others. When you finish, the files that you changed are merged into the working "
    "directory. "
    "What Git ignores and Git's own files are not: a commit or a branch would be lost, so don't create any."
)
_MAX_SAVED_BYTES = 256 << 20
_MAX_NAMED = 50
"""Maximum number of paths of each kind that a report names."""


@frozen(kw_only=True)
class WorkspaceReport:
    """Result of adopting a sub-agent's changes. Paths are as the model sees them."""

    adopted: tuple[str, ...] = ()
    conflicts: Mapping[str, str]
    """Paths that weren't changed, with the reason and the location of the sub-agent's version."""
    attempt: int | None = None
    """Number of the attempt that keeps the changes; None if all changes were adopted."""
    problem: str = ""
    """The reason why no changes could be adopted."""

    def describe(self) -> str:
        """Return the message for the parent agent."""
        if self.problem:
            kept = (
                f" They are kept as attempt {self.attempt} of the user." if self.attempt is not None else ""
            )
            return f"It worked in a workspace, and its changes were not adopted: {self.problem}{kept}"
        if not self.adopted and not self.conflicts:
            return "It worked in a workspace, and changed no file."
        lines = ["It worked in a workspace."]
        if self.adopted:
            lines.append(f"Adopted into the working directory: {_join_names(self.adopted)}.")
        if self.conflicts:
            reasons = [f"{path} ({reason})" for path, reason in self.conflicts.items()]
            lines.append(
                f"Conflicts, left as they are in the working directory: {_join_names(reasons)}. Merge these "
                f"yourself, or tell the user to choose with /attempts --adopt {self.attempt}."
            )
        return " ".join(lines)

    @property
    def brief(self) -> str:
        """A few words for the user."""
        if self.problem:
            return "changes not adopted"
        words = [f"{len(self.adopted)} file{'' if len(self.adopted) == 1 else 's'} adopted"]
        if count := len(self.conflicts):
            words.append(f"{count} conflict{'' if count == 1 else 's'}")
        return ", ".join(words)


class IsolatedWorkspace:
    """An open workspace of one sub-agent."""

    def __init__(
        self,
        services: "IsolatedWorkspaces",
        view: LastingView,
        scope: PathScope,
        *,
        state: str,
        resources: AsyncExitStack,
    ) -> None:
        self._services = services
        self._view = view
        self._state = state
        self._resources = resources
        self._is_finished = False
        self.dependencies = services.build_dependencies(view, scope)
        """Dependencies of tools that work in the workspace."""

    async def adopt(self, author: ChangeAuthor, prompt: str) -> WorkspaceReport:
        """Merge the changes into the working directory, as changes by `author`. Raises CancelledError only.

        Conflicts are kept as an attempt with `prompt`. If canceled, the merge still completes.
        """
        self._is_finished = True
        return await run_shielded(self._services.adopt(self._view, self._state, author, prompt))

    async def close(self, prompt: str) -> None:
        """Close the workspace. Changes that weren't adopted are kept as an attempt."""
        try:
            if not self._is_finished:
                await run_shielded(self._services.keep(self._view, self._state, prompt))
        finally:
            await run_shielded(self._resources.aclose())


class IsolatedWorkspaces:
    """Opens workspaces for the sub-agents of a session, and adopts their changes."""

    def __init__(
        self,
        *,
        workspaces: Workspaces,
        views: CheckpointViews,
        files: SessionFiles,
        attempts: AttemptService,
        store: AttemptStore,
        scope: PathScope,
        shell: Shell,
        output_folder: OutputFolder,
        bounds: BoundsBuilder,
        context: Context,
        runtime_settings: RuntimeSettings,
        sender: EventSender,
    ) -> None:
        self._files = files
        self._workspaces = workspaces
        self._views = views
        self._attempts = attempts
        self._store = store
        self._scope = scope
        self._shell = shell
        self._output_folder = output_folder
        self._bounds = bounds
        self._context = context
        self._runtime_settings = runtime_settings
        self._sender = sender
        self._adopting = asyncio.Lock()
        """Serializes adoptions, because several sub-agents may end at the same time."""

    async def open(self) -> IsolatedWorkspace:
        """Open a workspace with the current files. Raises KimiTuiError if it can't be opened."""
        if not self._files.is_enabled:
            raise KimiTuiError(
                "A sub-agent with `isolation: workspace` needs file snapshots.",
                hint="Set `files = true` under [checkpoints] in the config, or remove `isolation`.",
            )
        state = await self._views.capture_now()
        scope = replace(self._scope)
        sandbox = self._shell.sandbox
        async with AsyncExitStack() as resources:
            try:
                view = await resources.enter_async_context(
                    self._workspaces.open_lasting_view(
                        scope.work_dir,
                        scope.additional_dirs,
                        bounds=sandbox.policy if sandbox is not None else None,
                    )
                )
            except OSError as error:
                raise KimiTuiError(
                    msg("A sub-agent with `isolation: workspace` can't run here: {reason}.", reason=error),
                    hint="`kimi-tui info` shows how commands run. Remove `isolation` from the agent's file.",
                ) from error
            scope.view = view
            return IsolatedWorkspace(self, view, scope, state=state, resources=resources.pop_all())
        raise AssertionError  # the block doesn't suppress exceptions

    def build_dependencies(self, view: LastingView, scope: PathScope) -> Dependencies:
        """Return the tools' dependencies that differ in a workspace."""
        created_files = CreatedFiles()
        commands = IsolatedCommands(view, self._workspaces, self._shell, scope, self._output_folder)
        trial_runs = TrialRuns(self._workspaces, self._shell, scope, commands, self._bounds, created_files)
        trial_runs.is_unavailable = True  # the effects would be visible only after the agent ends
        return {
            PathScope: scope,
            Editor: NO_EDITOR,
            FileTracker: FileTracker(created_files=created_files),
            PrivateCommands: commands,
            TrialRuns: trial_runs,
        }

    async def adopt(
        self, view: LastingView, state: str, author: ChangeAuthor, prompt: str
    ) -> WorkspaceReport:
        """Merge a view's changes since `state` into the working directory. The report has any error."""
        from kimi_tui.engine.files.change_adoption import adopt_changes
        from kimi_tui.history.snapshots.planning.adoption import AdoptedChanges

        view.close()
        async with self._adopting:
            changes: Changes = {}
            base: Changes = {}
            left: Mapping[str, str] = {}
            counts = (0, 0)
            adopted: tuple[str, ...] = ()
            problem = ""
            try:
                changed, changes, base, counts = await self._read(view, state)
                if changes:
                    adopting = AdoptedChanges(name="", changes=changes, base=base)
                    result = await adopt_changes(self._files, self._scope, adopting, author=author)
                    adopted, left = result.adopted, result.left
                    left = await self._save_versions(left, changed)
            except (KimiTuiError, OSError) as error:
                logger.warning("a sub-agent's changes were not adopted", exc_info=True)
                problem = str(error)
            attempt = None
            try:
                if left or (problem and changes):
                    attempt = await self._keep(changes, base, counts, prompt, left=left or changes)
                elif not problem:
                    await asyncio.to_thread(self._store.remove, ())  # contents that no attempt needs
            except OSError as error:
                logger.warning("a sub-agent's changes can't be kept", exc_info=True)
                problem = problem or str(error)
            return WorkspaceReport(
                adopted=tuple(map(display_path, adopted)),
                conflicts={display_path(path): reason for path, reason in left.items()},
                attempt=attempt,
                problem=problem,
            )

    async def keep(self, view: LastingView, state: str, prompt: str) -> None:
        """Keep a view's changes since `state` as an attempt, unless nothing changed. Errors are logged."""
        view.close()
        async with self._adopting:
            try:
                _, changes, base, counts = await self._read(view, state)
                if changes:
                    await self._keep(changes, base, counts, prompt, left=changes)
            except (KimiTuiError, OSError):
                logger.warning("a sub-agent's changes were lost", exc_info=True)

    async def _read(
        self, view: LastingView, state: str
    ) -> tuple[list[ChangedPath], Changes, Changes, tuple[int, int]]:
        """Return the changed paths, the new entries, the old entries, and (added, removed) line counts."""
        from kimi_tui.engine.attempts.attempt_changes import read_attempt_changes

        changed = await run_in_thread_shielded(view.read_changes)
        changes, base, counts = await self._views.use(
            partial(
                read_attempt_changes,
                workspace=self._scope,
                store=self._store,
                state=state,
                changed=changed,
            )
        )
        return changed, changes, base, counts

    async def _keep(
        self,
        changes: Changes,
        base: Changes,
        counts: tuple[int, int],
        prompt: str,
        *,
        left: Collection[str],
    ) -> int:
        """Keep changes as an attempt, and return its number. A notice names the files `left` unchanged.

        Raises OSError.
        """
        checkpoints = self._context.checkpoints
        attempt = Attempt(
            number=0,
            checkpoint=checkpoints[-1].id if checkpoints else 0,
            prompt=prompt,
            model="",
            thinking=self._runtime_settings.requested_effort,
            state="finished",
            files=len(changes),
            added=counts[0],
            removed=counts[1],
            is_bounded=True,
        )
        number = await self._attempts.keep(StoredAttempt(attempt=attempt, changes=changes, base=base))
        self._sender.send(
            build_notice(
                msg("A sub-agent's changes are kept as attempt {number}.", number=number),
                msg(
                    "Not adopted: {files}. /attempts --show {number} shows the changes. /attempts --adopt "
                    "{number} --choose FILE=both adopts them, with your choice for a conflict.",
                    files=_join_names(sorted(map(display_path, left))),
                    number=number,
                ),
                severity="warning",
            )
        )
        return number

    async def _save_versions(self, left: Mapping[str, str], changed: list[ChangedPath]) -> dict[str, str]:
        """Save the sub-agent's versions of the files in `left`, and add the saved paths to the reasons."""
        to_history_path = HistoryPaths(self._scope).path_of
        sources = {to_history_path(each.path): each.source for each in changed if each.source}
        described = {}
        for path, reason in left.items():
            described[path] = reason
            if (source := sources.get(path)) and len(described) <= _MAX_NAMED:
                try:
                    saved = await run_in_thread_shielded(self._save_version, source)
                except OSError:
                    logger.warning("can't save a version: %s", path, exc_info=True)
                else:
                    described[path] = f"{reason}; the sub-agent's version is in {saved}" if saved else reason
        return described

    def _save_version(self, source: str) -> str:
        """Copy a file to the session's output and return the copy's path.

        Return an empty string unless it is a regular file of at most _MAX_SAVED_BYTES.
        """
        info = os.lstat(source)
        if not stat.S_ISREG(info.st_mode) or info.st_size > _MAX_SAVED_BYTES:
            return ""
        path, target = self._output_folder.new_file(suffix=Path(source).suffix or ".txt")
        with target, open(source, "rb") as stream:  # noqa: PTH123 - bytes that aren't UTF-8
            shutil.copyfileobj(stream, target)
        return str(path)


def _join_names(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMED
    return ", ".join(names[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
