"""Bisect: finds the step that changed the result of a command, while the session continues."""

import asyncio

from kimi_tui.base.errors import UsageError
from kimi_tui.engine.bisect.candidate_states import CandidateState, group_states, list_checkpoints
from kimi_tui.engine.bisect.result_prompt import build_prompt
from kimi_tui.engine.bisect.state_search import StateSearch, Verdict, max_runs_of
from kimi_tui.engine.files.checkpoint_commands import CheckpointCommands
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.files.shared_states import StateUnavailable
from kimi_tui.engine.timeline.publisher import build_node
from kimi_tui.history.checkpoint_tree import CheckpointNode
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.history.step_summary import summarize_step
from kimi_tui.wire.bisect import Bisect, BisectOutcome, BisectProgress, BisectResult
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.timeline import TimelineNode


class _Run:
    """State of one search: the candidate states and the results of the command."""

    def __init__(self, command: str, states: list[CandidateState], n_checkpoints: int) -> None:
        self.command = command
        self.states = states
        max_runs = max(max_runs_of(len(states)), max_runs_of(max(n_checkpoints, 1)))
        self.search = StateSearch(len(states), max_runs=max_runs)
        self.outputs: dict[int, str] = {}
        """The end of the latest failed run's output, by index of the state."""
        self.is_copy = False

    def progress(self, index: int, verdict: Verdict) -> BisectProgress:
        state = self.states[index]
        return BisectProgress(
            command=self.command,
            checkpoint=None if state.is_current or state.last is None else state.last.checkpoint.id,
            verdict=verdict,
            runs=self.search.n_runs,
            max_runs=self.search.max_runs,
            is_flaky=self.search.is_flaky,
        )


class BisectService:
    """Runs one search at a time. Its methods raise KimiTuiError."""

    def __init__(
        self,
        *,
        session: Session,
        context: Context,
        files: SessionFiles,
        commands: CheckpointCommands,
        sender: EventSender,
    ) -> None:
        self._session = session
        self._context = context
        self._files = files
        self._commands = commands
        self._sender = sender
        self._running: asyncio.Task[BisectResult] | None = None
        self._is_stopping = False
        self._last: BisectResult | None = None

    async def run(self, command: Bisect) -> None:
        """Search, and send the progress and the result."""
        if self._running is not None:
            raise UsageError("A search is already running.", hint="Stop it with /bisect --stop.")
        if not self._files.is_enabled:
            raise UsageError(
                "No file snapshots to search.",
                hint="Set `files = true` under [checkpoints] in the config.",
            )
        self._is_stopping = False
        self._running = asyncio.ensure_future(self._search(command.command))
        try:
            self._last = await asyncio.shield(self._running)
        except asyncio.CancelledError:
            self._running.cancel()
            await asyncio.wait([self._running])
            if not self._is_stopping or ((task := asyncio.current_task()) is not None and task.cancelling()):
                raise
            self._sender.send(BisectResult(command=command.command, outcome="stopped", runs=0))
        else:
            self._sender.send(self._last)
        finally:
            self._running = None

    async def stop(self) -> None:
        """Stop the running search, and wait until its command has ended."""
        if self._running is None:
            raise UsageError("No search is running.", hint="Start one with /bisect COMMAND.")
        await self.close()

    async def close(self) -> None:
        """Stop the search if one is running."""
        if self._running is not None:
            self._is_stopping = True
            self._running.cancel()
            await asyncio.wait([self._running])

    def prompt_for_model(self) -> str:
        """Return a prompt about the result of the last search."""
        if self._last is None:
            raise UsageError("No result to send.", hint="Start a search with /bisect COMMAND.")
        return build_prompt(self._last)

    async def _search(self, command: str) -> BisectResult:
        await self._files.wait_for_states()
        now = await self._commands.views.capture_now()
        checkpoints = list_checkpoints(await self._context.tree())

        states = await self._files.worker.use(
            lambda history: group_states(checkpoints, now, history.manifests)
        )
        run = _Run(command, states, len(checkpoints))
        while (index := run.search.next_state) is not None:
            try:
                verdict = await self._run_at(run, index)
            except StateUnavailable:
                run.search.exclude(index)
                continue
            run.search.record(index, verdict)
            self._sender.send(run.progress(index, verdict))
        return await self._build_result(run)

    async def _run_at(self, run: _Run, index: int) -> Verdict:
        """Run the command at a state."""
        ended = await self._commands.run(run.command, run.states[index].files)
        run.is_copy = ended.is_copy
        if ended.verdict == "fail":
            run.outputs[index] = ended.output
        return ended.verdict

    async def _build_result(self, run: _Run) -> BisectResult:
        from kimi_tui.engine.bisect.step_diff import compare_step

        found = run.search.outcome()
        if found.newest is None or found.first is None or found.before is None:
            outcomes: dict[Verdict, BisectOutcome] = {
                "pass": "always_passes",
                "fail": "always_fails",
                "skip": "always_skips",
            }
            node = run.states[found.first].first if found.first is not None else None
            return BisectResult(
                command=run.command,
                outcome=outcomes[found.verdict],
                runs=run.search.n_runs,
                step=self._build_step(node) if node is not None else None,
                output=run.outputs.get(found.first, "") if found.first is not None else "",
                is_flaky=run.search.is_flaky,
                is_copy=run.is_copy,
            )
        before, first = run.states[found.before], run.states[found.first]
        failed = found.first if found.verdict == "fail" else found.before
        step = before.last
        assert step is not None  # only the newest state may have no checkpoint
        until = first.first.checkpoint.id if first.first is not None else None

        files, diff, has_more_diff = await self._files.worker.use(
            lambda history: compare_step(history, before.files, first.files)
        )
        return BisectResult(
            command=run.command,
            outcome="pass_to_fail" if found.verdict == "fail" else "fail_to_pass",
            runs=run.search.n_runs,
            step=self._build_step(step),
            until=until,
            suspects=_find_suspects(run.states[found.before : found.first]),
            prompt=_find_prompt(step, list_checkpoints(await self._context.tree())),
            files=files,
            diff=diff,
            has_more_diff=has_more_diff,
            output=run.outputs.get(failed, ""),
            is_flaky=run.search.is_flaky,
            is_copy=run.is_copy,
        )

    def _build_step(self, node: CheckpointNode) -> TimelineNode:
        summary = summarize_step(self._context.messages_since_checkpoint) if node.next is None else None
        return build_node(node, self._session.state.names, summary=summary)


def _find_suspects(states: list[CandidateState]) -> tuple[int, ...]:
    """Return the checkpoint IDs of the steps after `states`; empty if there is only one step."""
    steps = [state.last.checkpoint.id for state in states if state.last is not None]
    return tuple(steps) if len(steps) > 1 else ()


def _find_prompt(step: CheckpointNode, path: list[CheckpointNode]) -> str:
    """Return the prompt of the turn that a step belongs to; empty if unknown."""
    prompt = ""
    for node in path:
        if node.checkpoint.kind == "user":
            prompt = node.checkpoint.label
        if node.checkpoint.uid == step.checkpoint.uid:
            return prompt
    return ""
