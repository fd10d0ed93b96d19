"""Run of one attempt: its workspace, its process, its changes and its check."""

import asyncio
import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.config.settings import Settings
from kimi_tui.engine.attempts.attempt_config import attempt_config
from kimi_tui.engine.attempts.attempt_output import AttemptOutput
from kimi_tui.engine.attempts.attempt_process import (
    AttemptFolder,
    AttemptRequest,
    judge_run,
    run_attempt_process,
)
from kimi_tui.engine.attempts.attempt_spending import AttemptSpending
from kimi_tui.engine.attempts.attempt_store import AttemptStore, StoredAttempt
from kimi_tui.engine.files.checkpoint_commands import CheckpointCommands
from kimi_tui.engine.timeline.fork import fork_session
from kimi_tui.history.checkpoint_tree import CheckpointNode
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.attempts import Attempt
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.workspaces.checkpoint.private_view import ChangedPath, PrivateTree

_POLL_S = 0.5
"""Seconds between two updates of an attempt's cost and messages."""
_MAX_MESSAGE = 20_000
_NOTE = (
    "This is one of several independent attempts that continue the conversation from this point. The files "
    "are in the state that they had then. Read a file again before you rely on what you remember of it."
)
_COPY_NOTE = (
    " They are in a copy of the project: use paths relative to the working directory, and not the absolute "
    "ones from earlier in the conversation."
)


@frozen(kw_only=True)
class AttemptSource:
    """Starting point and common options of attempts that start together."""

    node: CheckpointNode
    state: str
    """State of the files at the checkpoint."""
    todos: tuple[TodoItem, ...]
    settings: Settings
    max_time_s: float
    max_steps: int | None
    yolo: bool
    demo: bool


class AttemptObserver:
    """Receives every change of an attempt."""

    def update(self, stored: StoredAttempt) -> None:
        """Handle the new state of an attempt."""


class AttemptRun:
    """Runs attempts in workspaces of the session's project. Several can run at the same time."""

    def __init__(
        self,
        *,
        session: Session,
        context: Context,
        workspace: PathScope,
        commands: CheckpointCommands,
        store: AttemptStore,
        data_dir: Path,
    ) -> None:
        self._session = session
        self._context = context
        self._workspace = workspace
        self._commands = commands
        self._store = store
        self._data_dir = data_dir

    async def run(
        self,
        attempt: Attempt,
        source: AttemptSource,
        budgets: AttemptSpending,
        observer: AttemptObserver,
        *,
        sets_thinking: bool,
    ) -> None:
        """Run an attempt until it ends, and report changes to `observer`. Cancellation stops the attempt."""
        start = time.monotonic()
        current = StoredAttempt(attempt=replace(attempt, state="running", started=time.time()))
        observer.update(current)
        folder = AttemptFolder(self._store.run_folder(attempt.number), self._data_dir)
        try:
            current = await self._run_in_view(current, source, budgets, observer, folder, sets_thinking)
            current = _with_duration(current, start)
            if current.attempt.check and current.attempt.state != "failed":
                current = await self._check(current, source, observer)
        except asyncio.CancelledError:
            stopped = replace(current.attempt, state="stopped")
            observer.update(_with_duration(replace(current, attempt=stopped), start))
            raise
        except (KimiTuiError, OSError) as error:
            failed = replace(current.attempt, state="failed", problem=str(error))
            current = _with_duration(replace(current, attempt=failed), start)
        finally:
            await run_in_thread_shielded(partial(shutil.rmtree, folder.folder, ignore_errors=True))
        observer.update(current)

    async def _run_in_view(
        self,
        current: StoredAttempt,
        source: AttemptSource,
        budgets: AttemptSpending,
        observer: AttemptObserver,
        folder: AttemptFolder,
        sets_thinking: bool,
    ) -> StoredAttempt:
        await asyncio.to_thread(folder.create)
        bounds = None if source.settings.sandbox.enabled else folder.bounds(self._workspace)
        async with self._commands.views.open(source.state, bounds=bounds) as view:
            attempt = replace(current.attempt, is_copy=view.is_copy, is_bounded=view.is_bounded)
            current = replace(current, attempt=attempt)
            await asyncio.to_thread(view.begin)
            tree = view.tree if view.is_copy else None
            request = await self._build_request(attempt, source, budgets, folder, sets_thinking, tree)
            command = await asyncio.to_thread(folder.write, request)
            output = AttemptOutput()
            process = asyncio.ensure_future(
                run_attempt_process(
                    view,
                    command,
                    request,
                    output,
                    work_dir=self._session.work_dir,
                    data_dir=folder.data_dir,
                )
            )
            try:
                while not process.done():
                    await asyncio.wait([process], timeout=_POLL_S)
                    new = await self._observe(current, output, budgets)
                    if new != current and not process.done():
                        observer.update(new)
                    current = new
                state, problem = judge_run(process.result(), output)
                problem = view.stop_reason or problem
            finally:
                process.cancel()
                await asyncio.wait([process])
            changed = await run_in_thread_shielded(view.read_changes)
            current = await self._store_changes(current, changed, source.state)
            return replace(current, attempt=replace(current.attempt, state=state, problem=problem))

    async def _build_request(
        self,
        attempt: Attempt,
        source: AttemptSource,
        budgets: AttemptSpending,
        folder: AttemptFolder,
        sets_thinking: bool,
        tree: PrivateTree | None,
    ) -> AttemptRequest:
        """Return the request. `tree`: the copy of the files, if the attempt runs in a copy."""
        note = _NOTE + (_COPY_NOTE if attempt.is_copy else "")
        store = SessionStore(folder.data_dir)
        fork = await fork_session(
            store, self._session, self._context, source.node, source.todos, note=note, tree=tree
        )
        return AttemptRequest(
            prompt=attempt.prompt,
            model=attempt.model,
            thinking=attempt.thinking,
            sets_thinking=sets_thinking,
            max_time_s=source.max_time_s,
            max_steps=source.max_steps,
            yolo=source.yolo,
            demo=source.demo,
            session_id=fork.id,
            config=attempt_config(source.settings),
            gate=budgets.gate_of(attempt.number),
        )

    async def _observe(
        self, current: StoredAttempt, output: AttemptOutput, budgets: AttemptSpending
    ) -> StoredAttempt:
        """Return the attempt with its last message and its cost so far."""
        cost = output.result.get("cost_usd")
        if cost is None:
            cost = await asyncio.to_thread(budgets.spent_usd, current.attempt.number) or None
        attempt = replace(
            current.attempt,
            cost_usd=cost,
            steps=output.steps,
            last_message=output.last_message[-_MAX_MESSAGE:],
        )
        return replace(current, attempt=attempt)

    async def _store_changes(
        self, current: StoredAttempt, changed: list[ChangedPath], state: str
    ) -> StoredAttempt:
        from kimi_tui.engine.attempts.attempt_changes import read_attempt_changes

        changes, base, (added, removed) = await self._commands.views.use(
            partial(
                read_attempt_changes,
                workspace=self._workspace,
                store=self._store,
                state=state,
                changed=changed,
            )
        )
        n_files = sum(
            any(entry is not None and entry.kind != "folder" for entry in (changes[path], base[path]))
            for path in changes
        )
        attempt = replace(current.attempt, files=n_files, added=added, removed=removed)
        return replace(current, attempt=attempt, changes=changes, base=base)

    async def _check(
        self, current: StoredAttempt, source: AttemptSource, observer: AttemptObserver
    ) -> StoredAttempt:
        """Run the check in a clean view of the attempt's files."""
        ended = current.attempt
        observer.update(replace(current, attempt=replace(ended, state="checking")))
        run = await self._commands.run(
            ended.check,
            source.state,
            timeout_s=source.settings.checks.timeout,
            replaced=current.changes,
        )
        output = run.output if run.verdict != "pass" else ""
        if run.timed_out:
            output = msg("The check timed out.")
        return replace(current, attempt=replace(ended, verdict=run.verdict, check_output=output))


def _with_duration(stored: StoredAttempt, start: float) -> StoredAttempt:
    return replace(stored, attempt=replace(stored.attempt, duration_s=time.monotonic() - start))
