"""`/goal CHECK`: the agent works until a check passes with the original tests."""

import asyncio
import os
import tempfile
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from kimi_tui.base.errors import KimiTuiError, LimitReached, UsageError
from kimi_tui.base.ids import new_id
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.checkpoint_commands import CheckpointCommands, CheckpointRun
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.goal.goal_options import GoalOptions
from kimi_tui.engine.goal.run_counts import read_counts
from kimi_tui.engine.session.notices import Severity, build_notice
from kimi_tui.history.session import Session
from kimi_tui.history.snapshots.entry import Changes
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.soul import Soul
from kimi_tui.soul.usage_totals import UsageTotals
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.events import SteerInput
from kimi_tui.wire.requests import Question, QuestionOption, QuestionRequest, QuestionResponse

if TYPE_CHECKING:
    from kimi_tui.engine.goal.check_guard import GuardReport

_POLL_S = 0.5
"""Seconds between two checks of a running turn's cost."""
_MAX_OUTPUT_LINES = 60
_CHECK_TIMEOUT_S = 1_800.0
_VARIABLES = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONPYCACHEPREFIX": "/nonexistent/kimi-tui",
    "MYPY_CACHE_DIR": os.devnull,
    "RUFF_NO_CACHE": "true",
}
"""Environment of the check. It bypasses compiled files and caches that the agent may have changed."""
_ACCEPT = msg("Accept these changes")
_RESTORE = msg("Restore these files and continue")
_STOP = msg("Stop")


class GoalNotReached(KimiTuiError):
    """The agent stopped before the check passed."""


class GoalRunner:
    """Runs turns until the check passes, a limit is reached, or the user stops."""

    def __init__(
        self,
        *,
        soul: Soul,
        session: Session,
        files: SessionFiles,
        commands: CheckpointCommands,
        usage_totals: UsageTotals,
        runtime_settings: RuntimeSettings,
        wire: Wire,
    ) -> None:
        self._soul = soul
        self._session = session
        self._files = files
        self._commands = commands
        self._usage_totals = usage_totals
        self._runtime_settings = runtime_settings
        self._wire = wire

    async def run(self, options: GoalOptions) -> None:
        """Work on a goal within a turn. Return once the goal is reached.

        Raises GoalNotReached, LimitReached, UsageError and the errors of a turn.
        """
        if not self._files.is_enabled:
            raise UsageError(
                "A goal needs file snapshots.", hint="Set `files = true` under [checkpoints] in the config."
            )
        from kimi_tui.engine.goal.check_guard import CheckGuard  # compiles long patterns

        guard = CheckGuard(
            options.check,
            work_dir=self._session.work_dir,
            views=self._commands.views,
            worker=self._files.worker,
        )
        await guard.begin()
        first = await self._run_check(options, {})
        if first.verdict == "pass" and not options.task:
            self._notify(msg("Goal reached: {check} already passes.", check=options.check), "", "info")
            return
        prompt = _first_prompt(options, first)
        began, cost_before = time.monotonic(), self._usage_totals.cost_usd or 0.0
        for _ in range(options.max_turns):
            self._check_limits(options, began=began, cost_before=cost_before)
            self._wire.send(SteerInput(prompt))
            await self._run_turn(prompt, options, began=began, cost_before=cost_before)
            report = await guard.report()
            run = await self._run_check(options, report.restored)
            fewer_tests = read_counts(first.output).compare(read_counts(run.output))
            report = replace(report, fewer_tests=fewer_tests if run.verdict == "pass" else "")
            if run.verdict == "pass" and report.is_empty:
                self._notify(
                    msg("Goal reached: {check} passes with the original tests.", check=options.check),
                    "",
                    "info",
                )
                return
            passes_with_changes = run.verdict == "pass" or (
                not report.is_empty and (await self._run_check(options, {})).verdict == "pass"
            )
            if not passes_with_changes:
                prompt = _next_prompt(options, run, report)
                continue
            if await self._ask(options, report, passes_as_before=run.verdict == "pass"):
                return
            prompt = _restore_prompt(options, report)
        what = msg(
            "Goal not reached: {check} still fails (turns: {count}).",
            check=options.check,
            count=options.max_turns,
        )
        raise LimitReached(what, hint="Raise --turns to continue.")

    async def _run_turn(self, prompt: str, options: GoalOptions, *, began: float, cost_before: float) -> None:
        """Run a turn of the agent. Raises LimitReached if the turn reaches a limit."""
        turn = asyncio.ensure_future(self._soul.run(prompt))
        try:
            while not turn.done():
                await asyncio.wait([turn], timeout=_POLL_S)
                if not turn.done():  # the work of a finished turn is checked, even after a limit
                    self._check_limits(options, began=began, cost_before=cost_before)
        finally:
            if not turn.done():
                turn.cancel()
                await asyncio.wait([turn])
        turn.result()

    def _check_limits(self, options: GoalOptions, *, began: float, cost_before: float) -> None:
        """Raise LimitReached if the time limit or the cost limit is reached."""
        if time.monotonic() - began >= options.max_time_s:
            what = msg(
                "Goal not reached: {check} still fails after {seconds:g} s.",
                check=options.check,
                seconds=options.max_time_s,
            )
            raise LimitReached(what, hint="Raise --time to continue.")
        spent = (self._usage_totals.cost_usd or 0.0) - cost_before
        if options.max_cost_usd is not None and spent >= options.max_cost_usd:
            what = msg(
                "Goal not reached: the cost limit of ${limit:g} is reached.", limit=options.max_cost_usd
            )
            raise LimitReached(what, hint="Raise --cost to continue.")

    async def _run_check(self, options: GoalOptions, restored: Changes) -> CheckpointRun:
        """Run the check in a workspace with the current files, after applying the changes `restored`."""
        with tempfile.TemporaryDirectory(prefix="kimi-tui-cache-") as cache:
            pytest_options = f"{os.environ.get('PYTEST_ADDOPTS', '')} -o cache_dir={cache}"
            return await self._commands.run(
                options.check,
                None,
                timeout_s=_CHECK_TIMEOUT_S,
                replaced=restored,
                variables={**_VARIABLES, "PYTEST_ADDOPTS": pytest_options},
            )

    async def _ask(self, options: GoalOptions, report: "GuardReport", *, passes_as_before: bool) -> bool:
        """Show the changes and ask whether the goal counts as reached.

        Raises GoalNotReached if the user stops.
        """
        title = (
            msg("{check} passes, but protected files changed, such as tests.", check=options.check)
            if passes_as_before
            else msg(
                "{check} passes only with changes to protected files, such as tests.", check=options.check
            )
        )
        self._notify(title, "\n".join(report.describe()), "warning")
        answer = await self._ask_user(
            Question(
                msg("Does the goal count as reached?"),
                msg("Goal"),
                (
                    QuestionOption(_ACCEPT, msg("The check still tests what it should.")),
                    QuestionOption(_RESTORE, msg("The agent restores them and continues.")),
                    QuestionOption(_STOP, msg("The goal isn't reached.")),
                ),
            )
        )
        if answer == _ACCEPT:
            self._notify(msg("Goal reached: you accepted the changes."), "", "info")
            return True
        if answer == _RESTORE:
            return False
        raise GoalNotReached(
            msg("Goal not reached: {title}", title=title), hint="Look at the changes, for example with /diff."
        )

    async def _ask_user(self, question: Question) -> str:
        """Return the label of the user's answer; empty if the user didn't answer."""
        if self._runtime_settings.afk:
            return ""
        response = await self._wire.ask(QuestionRequest(new_id(), "", (question,)))
        if not isinstance(response, QuestionResponse):
            raise TypeError(f"a question was answered with {type(response).__name__}")
        return response.answers.get(question.question, "")

    def _notify(self, title: str, body: str, severity: Severity) -> None:
        self._wire.send(build_notice(title, body, source_id=self._session.id, severity=severity))


def _first_prompt(options: GoalOptions, run: CheckpointRun) -> str:
    task = f"{options.task}\n\n" if options.task else ""
    return (
        f"{task}Make this command pass (exit code 0): `{options.check}`\n\n"
        "It runs after each of your turns, in a copy of the files with the original tests and their original"
        " configuration. Don't change, skip or delete tests, their configuration, or the programs that run"
        " them: fix the code that they test. End your turn when you think that the command passes.\n\n"
        f"{_output_of(run)}"
    )


def _next_prompt(options: GoalOptions, run: CheckpointRun, report: "GuardReport") -> str:
    parts = [f"`{options.check}` still fails."]
    if not report.is_empty:
        names = "\n".join(report.names[:20])
        parts.append(f"It ran with the original versions of these files. Restore them:\n{names}")
    return "\n\n".join([*parts, _output_of(run)])


def _restore_prompt(options: GoalOptions, report: "GuardReport") -> str:
    names = "\n".join(report.names[:50])
    return (
        f"The user doesn't accept your changes to these protected files. Restore them, and make"
        f" `{options.check}` pass without these changes:\n{names}"
    )


def _output_of(run: CheckpointRun) -> str:
    end = "\n".join(run.output.splitlines()[-_MAX_OUTPUT_LINES:])
    note = " (stopped at the time limit)" if run.timed_out else ""
    return f"Its output{note} ends with:\n```\n{end}\n```"
