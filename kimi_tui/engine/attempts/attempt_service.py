"""Service that starts and stops a session's attempts and shows their changes."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from kimi_tui.base.errors import ConfigError, ModelNotSet, UsageError
from kimi_tui.base.ids import new_id
from kimi_tui.base.message_text import msg
from kimi_tui.config.resolved_model import resolve_model
from kimi_tui.config.settings import Settings
from kimi_tui.engine.attempts.attempt_run import AttemptObserver, AttemptRun, AttemptSource
from kimi_tui.engine.attempts.attempt_spending import AttemptSpending
from kimi_tui.engine.attempts.attempt_store import (
    AttemptStore,
    StoredAttempt,
    mark_adopted,
    missing_attempt,
)
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.engine.timeline.revert_messages import first_prompt
from kimi_tui.engine.timeline.revert_target import find_checkpoint, unavailable_reason
from kimi_tui.history.checkpoint_tree import CheckpointNode
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.wire.attempts import (
    Attempt,
    AttemptChanges,
    AttemptList,
    AttemptOptions,
    ReadAttempt,
    StartAttempts,
)
from kimi_tui.wire.event_sender import EventSender

logger = logging.getLogger(__name__)

_MAX_ATTEMPTS = 64
"""Maximum number of attempts that a session keeps."""


class AttemptService(AttemptObserver):
    """The attempts of one session. Its methods raise KimiTuiError and OSError."""

    def __init__(
        self,
        run: AttemptRun,
        *,
        session: Session,
        store: AttemptStore,
        context: Context,
        files: SessionFiles,
        todos: SessionTodos,
        settings: Settings,
        runtime_settings: RuntimeSettings,
        data_dir: Path,
        sender: EventSender,
    ) -> None:
        self._run = run
        self._session = session
        self._sent_adopted = session.state.adopted
        self._store = store
        self._context = context
        self._files = files
        self._todos = todos
        self._settings = settings
        self._runtime_settings = runtime_settings
        self._data_dir = data_dir
        self._sender = sender
        self._stored: dict[int, StoredAttempt] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(settings.attempts.max_at_once)
        self._is_loaded = False

    async def load(self) -> None:
        """Read the attempts of earlier runs, and send the list if it isn't empty.

        Attempts that were running when kimi-tui was killed are marked as stopped. The files of their
        processes are removed, because they contain API keys.
        """
        if self._is_loaded:
            return
        self._is_loaded = True
        if not self._store.folder.is_dir():
            return
        stored = await asyncio.to_thread(self._store.read_all)
        for number, each in stored.items():
            if each.attempt.is_active:
                problem = msg("kimi-tui ended while it ran.")
                attempt = replace(each.attempt, state="stopped", problem=problem)
                stored[number] = replace(each, attempt=attempt)
                await asyncio.to_thread(self._store.write, stored[number])
                await asyncio.to_thread(self._store.remove_run, number)
        self._stored = stored
        if stored:
            self._send_list()

    async def start(self, command: StartAttempts) -> None:
        """Start attempts, and wait for their end."""
        await self.load()
        if not self._files.is_enabled:
            raise UsageError(
                "Attempts need file snapshots.", hint="Set `files = true` under [checkpoints] in the config."
            )
        if not command.attempts:
            raise UsageError("/attempts requires models or prompts.", hint="Type /attempts --model A,B.")
        if len(self._stored) + len(command.attempts) > _MAX_ATTEMPTS:
            raise UsageError(
                msg("A session keeps at most {count} attempts.", count=_MAX_ATTEMPTS),
                hint="Remove old ones with /attempts --discard.",
            )
        source = await self._find_source(command)
        attempts = [self._build(options, command, source.node) for options in command.attempts]
        self._check_models(attempts, command.max_cost_usd)
        first = max(self._stored, default=0) + 1
        from kimi_tui.engine.attempts.attempt_budgets import AttemptBudgets  # imports sqlite3

        budgets = AttemptBudgets(
            self._store.folder / "spending.db",
            self._settings.budget,
            data_dir=self._data_dir,
            key=new_id(),
            max_cost_usd=command.max_cost_usd,
        )
        await asyncio.to_thread(budgets.start)
        started: list[asyncio.Task[None]] = []
        try:
            for number, (attempt, options) in enumerate(zip(attempts, command.attempts, strict=True), first):
                numbered = replace(attempt, number=number)
                self._stored[number] = StoredAttempt(attempt=numbered)
                sets_thinking = options.thinking is not None or not options.model
                task = asyncio.create_task(self._run_one(numbered, source, budgets, sets_thinking))
                self._tasks[number] = task
                started.append(task)
            self._send_list()
            await asyncio.wait(started)
        finally:
            await _cancel(started)
            await asyncio.to_thread(budgets.close)

    async def _run_one(
        self, attempt: Attempt, source: AttemptSource, budgets: AttemptSpending, sets_thinking: bool
    ) -> None:
        try:
            async with self._slots:
                await self._run.run(attempt, source, budgets, self, sets_thinking=sets_thinking)
        except asyncio.CancelledError:
            if attempt.number in self._stored and self._stored[attempt.number].attempt.is_active:
                stopped = replace(self._stored[attempt.number].attempt, state="stopped")
                self.update(StoredAttempt(attempt=stopped))
            raise
        finally:
            self._tasks.pop(attempt.number, None)

    def update(self, stored: StoredAttempt) -> None:
        """Implement `AttemptObserver.update`: store the attempt, and send the list."""
        number = stored.attempt.number
        if number not in self._stored:
            return  # discarded
        is_new_state = self._stored[number].attempt.state != stored.attempt.state
        self._stored[number] = stored
        if is_new_state:
            try:
                self._store.write(stored)
            except OSError:
                logger.warning("can't store an attempt", exc_info=True)
        self._send_list()

    async def stop(self, numbers: Sequence[int] = ()) -> None:
        """Stop attempts, by default all, and wait until they have ended."""
        self._check_numbers(numbers)
        await _cancel([task for number, task in self._tasks.items() if number in numbers or not numbers])

    async def close(self) -> None:
        """Stop all attempts."""
        await _cancel(list(self._tasks.values()))

    async def send_list(self) -> None:
        """Send the list as a reply."""
        await self.load()
        self._send_list(is_requested=True)

    async def send_result(self, command: ReadAttempt) -> None:
        """Send the files that an attempt changed."""
        await self.load()
        self._check_numbers([command.number])
        stored = self._stored[command.number]
        from kimi_tui.engine.attempts.attempt_changes import build_changed_files

        build = partial(build_changed_files, stored=stored, store=self._store, path=command.path)
        files = await self._files.worker.use(build)
        (attempt,) = mark_adopted([stored.attempt], self._session.state)
        self._sender.send(AttemptChanges(attempt, files, command.path))

    async def discard(self, numbers: Sequence[int]) -> None:
        """Stop and remove attempts, by default all, and send the list."""
        await self.load()
        self._check_numbers(numbers)
        chosen = list(numbers or self._stored)
        await _cancel([task for number, task in self._tasks.items() if number in chosen])
        for number in chosen:
            self._stored.pop(number, None)
        await asyncio.to_thread(self._store.remove, chosen)
        await self._session.forget_attempts(chosen)
        self._sent_adopted = self._session.state.adopted
        self._send_list(is_requested=True)

    async def show_adopted(self) -> None:
        """Send the list if a revert changed the set of adopted attempts."""
        await self.load()
        adopted = self._session.state.adopted
        if adopted != self._sent_adopted:
            self._sent_adopted = adopted
            self._send_list()

    async def keep(self, stored: StoredAttempt) -> int:
        """Store a sub-agent's changes as an attempt, and return the attempt's number."""
        await self.load()
        number = max(self._stored, default=0) + 1
        self._stored[number] = replace(stored, attempt=replace(stored.attempt, number=number))
        await asyncio.to_thread(self._store.write, self._stored[number])
        self._send_list()
        return number

    def _send_list(self, *, is_requested: bool = False) -> None:
        stored = (each.attempt for _, each in sorted(self._stored.items()))
        attempts = mark_adopted(stored, self._session.state)
        self._sender.send(AttemptList(attempts, is_requested))

    def _check_numbers(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            if number not in self._stored:
                raise missing_attempt(number)

    async def _find_source(self, command: StartAttempts) -> AttemptSource:
        """Return the starting point of attempts. Raises KimiTuiError if its files are unknown."""
        await self._files.wait_for_states()
        tree = await self._context.tree()
        number = command.checkpoint
        if number is None:
            prompts = [checkpoint for checkpoint in self._context.checkpoints if checkpoint.kind == "user"]
            if not prompts:
                raise UsageError("No prompt to try again.", hint="Send a prompt first.")
            number = prompts[-1].id
        node = find_checkpoint(tree, number)
        if reason := unavailable_reason(node.files):
            raise UsageError(reason, hint="Choose another checkpoint.")
        settings = self._settings
        return AttemptSource(
            node=node,
            state=node.files or "",
            todos=await self._todos.at_checkpoint(number),
            settings=settings,
            max_time_s=command.max_time_s or settings.attempts.max_time,
            max_steps=command.max_steps,
            yolo=command.yolo or self._runtime_settings.approves_all,
            demo=self._is_demo,
        )

    def _build(self, options: AttemptOptions, command: StartAttempts, node: CheckpointNode) -> Attempt:
        prompt = options.prompt.strip() or self._prompt_at(node)
        if not prompt:
            raise UsageError(
                msg("Checkpoint {number} has no prompt.", number=node.checkpoint.id),
                hint="Type one with --prompt TEXT.",
            )
        check = self._settings.checks.run if command.check is None else command.check
        return Attempt(
            number=0,
            checkpoint=node.checkpoint.id,
            prompt=prompt,
            model=options.model,
            thinking=options.thinking or self._runtime_settings.requested_effort,
            state="waiting",
            check=check.strip(),
        )

    def _prompt_at(self, node: CheckpointNode) -> str:
        """Return the prompt that follows a checkpoint; empty if the checkpoint doesn't precede a prompt."""
        if node.checkpoint.kind != "user":
            return ""
        if node.branch is None:
            message = first_prompt(self._context.messages_after(node.checkpoint.id))
            if message is not None and message.text.strip():
                return message.text.strip()
        return node.checkpoint.label

    @property
    def _is_demo(self) -> bool:
        """Whether the session uses the demo model. An attempt's config doesn't name this model."""
        llm = self._runtime_settings.llm
        return llm is not None and llm.kind == "demo"

    def _check_models(self, attempts: Sequence[Attempt], max_cost_usd: float | None) -> None:
        """Raise UsageError if a model isn't configured, or its cost can't be limited."""
        for name in {attempt.model for attempt in attempts}:
            if not name and self._is_demo:
                continue
            try:
                model = resolve_model(self._settings, name or None)
            except (ConfigError, ModelNotSet) as error:
                if name:
                    raise UsageError(error.what, hint=error.hint) from error
                continue
            if max_cost_usd is not None and model.price is None:
                raise UsageError(
                    msg("Model {name} has no price, so its cost can't be limited.", name=model.name),
                    hint=msg("Set models.{name}.price, or remove --cost.", name=model.name),
                )


async def _cancel(tasks: Sequence["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
