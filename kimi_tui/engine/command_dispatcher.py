"""Dispatcher that schedules each command by its type and calls its handler."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import assert_never

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.engine.background_services import BackgroundServices
from kimi_tui.engine.client_tools import client_tools
from kimi_tui.engine.models.active_model import ActiveModel
from kimi_tui.engine.recording.recorder import Recorder
from kimi_tui.engine.session.metadata import SessionMetadata
from kimi_tui.engine.session.modes import Modes
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.session.turns import TurnQueue
from kimi_tui.engine.session.user_services import UserServices
from kimi_tui.engine.slash.dispatcher import SlashDispatcher
from kimi_tui.soul.soul import Soul
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.argument_completion import CompleteArgument
from kimi_tui.wire.attempts import (
    AdoptAttempts,
    DiscardAttempts,
    ListAttempts,
    PlanAdoption,
    ReadAttempt,
    StartAttempts,
    StopAttempts,
)
from kimi_tui.wire.bisect import Bisect, SendBisectResult, StopBisect
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import (
    Command,
    Compare,
    DeleteSession,
    ExcludeTools,
    ForkSession,
    Interrupt,
    ListSessions,
    MoveToBackground,
    NameCheckpoint,
    PlanRevert,
    PlanSwitch,
    PreviewSession,
    Prompt,
    ReadBranch,
    ReadTask,
    Redo,
    RegisterTools,
    RenameSession,
    Revert,
    RunShell,
    RunSlash,
    SaveRecording,
    SearchMessages,
    SetAcceptEdits,
    SetModel,
    SetPlanMode,
    SetThinking,
    SetYolo,
    ShowTimeline,
    Shutdown,
    Steer,
    StopShell,
    StopTask,
    SubscribeHooks,
    SwitchBranch,
    Undo,
    WritePatch,
)
from kimi_tui.wire.model_setup import CancelConnection, ConnectModel, FindModels
from kimi_tui.wire.permissions import ChangePermission, ConfirmGrants, ListPermissions
from kimi_tui.wire.review import (
    AddComment,
    EditComment,
    ListComments,
    MarkViewed,
    ReadPlannedFile,
    RemoveComment,
    RevertHunks,
    ReviewChanges,
    SendComments,
)
from kimi_tui.wire.settings import ChangeSetting, ListSettings
from kimi_tui.wire.why import ExplainLine

logger = logging.getLogger(__name__)


class CommandDispatcher:
    """Handles the commands of front ends, one after another unless `scheduling` says otherwise."""

    def __init__(
        self,
        *,
        wire: Wire,
        soul: Soul,
        toolset: Toolset,
        turns: TurnQueue,
        slash: SlashDispatcher,
        publisher: SessionPublisher,
        modes: Modes,
        model: ActiveModel,
        metadata: SessionMetadata,
        services: BackgroundServices,
        user_services: UserServices,
    ) -> None:
        self._wire = wire
        self._soul = soul
        self._toolset = toolset
        self._turns = turns
        self._slash = slash
        self._publisher = publisher
        self._modes = modes
        self._model = model
        self._metadata = metadata
        self._services = services
        self._user = user_services
        self._plans: set[asyncio.Task[None]] = set()
        self._revert: asyncio.Task[None] | None = None

    async def run(self, group: asyncio.TaskGroup, recorder: Recorder) -> None:
        """Handle commands until Shutdown, with background work in `group`. Then cancel all running work."""
        try:
            self._model.prepare(group)
            async for command in self._wire.commands():
                if isinstance(command, Shutdown):
                    await self._wait_for_revert()
                    return
                await self._report_errors(self._dispatch(command, group, recorder))
        finally:
            await self._turns.stop()
            self._cancel_plans_and_revert()
            self._model.cancel_preparation()

    async def _dispatch(self, command: Command, group: asyncio.TaskGroup, recorder: Recorder) -> None:
        """Handle `command`, or start a task for it, as its `scheduling` says. Raises KimiTuiError."""
        if command.scheduling != "immediate":
            await self._wait_for_revert()
        match command.scheduling:
            case "immediate" | "in_order":
                await self._handle(command, group, recorder)
            case "concurrent":
                task = group.create_task(self._run(command, group, recorder))
                if command.is_done_with_result:
                    self._wire.defer_completion(task)
            case "plan":
                plan = group.create_task(self._run(command, group, recorder))
                self._plans.add(plan)
                plan.add_done_callback(self._plans.discard)
                self._wire.defer_completion(plan)
            case "revert":
                self._revert = group.create_task(self._run_after_plans(command, group, recorder))
                self._wire.defer_completion(self._revert)
            case _:
                assert_never(command.scheduling)

    async def _run(self, command: Command, group: asyncio.TaskGroup, recorder: Recorder) -> None:
        await self._report_errors(self._handle(command, group, recorder))

    async def _handle(self, command: Command, group: asyncio.TaskGroup, recorder: Recorder) -> None:
        """Call the handler of `command`. Raises KimiTuiError."""
        if command.needs_idle:
            self._turns.require_idle()
        timeline, user = self._services.timeline, self._user
        match command:
            case Steer(user_input=user_input) if self._turns.is_steerable:
                self._soul.steer(user_input)
            case Prompt(user_input=user_input) | Steer(user_input=user_input):
                prompt_id = command.prompt_id if isinstance(command, Prompt) else None
                self._turns.add(user_input, group, prompt_id=prompt_id)
                # In its own task: a command that interrupts this turn must not wait for a slow disk.
                group.create_task(self._report_errors(self._metadata.save_changes(user_input)))
            case Interrupt(prompt_id=str(prompt_id)):
                self._turns.interrupt_prompt(prompt_id)
            case Interrupt():
                self._interrupt()
            case RunSlash(line=line, prompt_id=prompt_id):
                timeline_command = await self._slash.run(line, group, prompt_id=prompt_id)
                if timeline_command is not None:
                    await self._dispatch(timeline_command, group, recorder)
            case SetModel(name=name):
                await self._model.select(name, group)
            case SetThinking(enabled=enabled, effort=effort):
                self._modes.set_thinking(effort or ("high" if enabled else "off"))
            case SetYolo(enabled=enabled):
                await self._modes.set_yolo(enabled)
            case SetAcceptEdits(enabled=enabled):
                await self._modes.set_accept_edits(enabled)
            case SetPlanMode(enabled=enabled):
                await self._modes.set_plan_mode(enabled)
            case RegisterTools(tools=tools):
                self._toolset.register(client_tools(self._wire, tools))
            case ExcludeTools(names=names):
                self._toolset.exclude(names)
            case SubscribeHooks(hooks=hooks):
                self._services.hooks.subscribe(hooks)
                self._publisher.send_info()
            case SaveRecording():
                await recorder.save()
            case CompleteArgument(command=name, text=text):
                await self._slash.complete(name, text)
            case ReadTask():
                await self._services.background_work.read_task(command)
            case MoveToBackground(call_id=call_id):
                self._services.background_work.move_commands(call_id)
            case StopTask(task_id=task_id):
                await self._services.background_work.stop_task(task_id)
            case ShowTimeline(newest=newest):
                await timeline.publisher.send_timeline(newest)
            case ReadBranch(branch=branch):
                await timeline.publisher.send_branch(branch)
            case Compare(before=before, after=after):
                await timeline.commands.compare(before, after)
            case WritePatch():
                await timeline.commands.write_patch(command)
            case NameCheckpoint(id=checkpoint, name=name):
                await timeline.commands.name_checkpoint(checkpoint, name)
            case ForkSession(to=to):
                await timeline.commands.fork(to)
            case Bisect():
                await timeline.bisect.run(command)
            case StopBisect():
                await timeline.bisect.stop()
            case SendBisectResult():
                self._turns.add(timeline.bisect.prompt_for_model(), group)
            case AddComment():
                await timeline.review.add(command)
            case EditComment():
                await timeline.review.edit(command)
            case RemoveComment():
                await timeline.review.remove(command)
            case ListComments(plan=plan):
                await timeline.review.send_list(plan)
            case SendComments():
                prompt = await timeline.review.take_prompt()
                await timeline.reviewer.end_review()
                self._turns.add(prompt, group)
            case ReviewChanges():
                await timeline.reviewer.review(command)
            case ReadPlannedFile():
                await timeline.reviewer.read_file(command)
            case MarkViewed():
                await timeline.reviewer.mark_viewed(command)
            case RevertHunks():
                await timeline.reviewer.revert_hunks(command)
            case ExplainLine():
                await timeline.why.explain(command)
            case StartAttempts():
                await self._services.attempts.start(command)
            case StopAttempts(numbers=numbers):
                await self._services.attempts.stop(numbers)
            case ListAttempts():
                await self._services.attempts.send_list()
            case ReadAttempt():
                await self._services.attempts.send_result(command)
            case DiscardAttempts(numbers=numbers):
                await self._services.attempts.discard(numbers)
            case PlanAdoption():
                await timeline.planner.plan_adoption(command)
            case AdoptAttempts():
                await timeline.reverts.adopt(command)
            case PlanRevert():
                await timeline.planner.plan_revert(command)
            case PlanSwitch():
                await timeline.planner.plan_switch(command)
            case Revert():
                await timeline.reverts.revert(command)
            case Undo():
                await timeline.reverts.undo(command)
            case Redo():
                await timeline.reverts.redo(command)
            case SwitchBranch():
                await timeline.reverts.switch_branch(command)
            case RunShell():
                await user.shell.run(command)
            case StopShell():
                user.shell.stop()
            case ListSessions(text=text):
                await user.session_browser.send_list(text)
            case SearchMessages(text=text, limit=limit):
                await user.message_search.search(text, limit)
            case PreviewSession(id=session_id):
                await user.session_browser.preview(session_id)
            case RenameSession(id=session_id, title=title):
                await user.session_browser.rename(session_id, title)
            case DeleteSession(id=session_id):
                await user.session_browser.delete(session_id)
            case FindModels():
                await user.model_setup.find_models()
            case ConnectModel():
                await user.model_setup.connect(command)
            case CancelConnection(id=attempt_id):
                user.model_setup.cancel(attempt_id)
            case ListSettings():
                await user.settings_service.send_list()
            case ChangeSetting():
                await user.settings_service.change(command)
            case ListPermissions():
                await user.permissions.send_list()
            case ChangePermission():
                await user.permissions.change(command)
            case ConfirmGrants():
                await user.permissions.confirm(command)
            case Shutdown():
                pass
            case _:
                assert_never(command)
        if command.needs_idle:
            self._soul.send_status()

    async def _report_errors(self, work: Awaitable[None]) -> None:
        try:
            await work
        except KimiTuiError as error:
            self._publisher.send_notice(error.what, error.hint, severity="error")
        except Exception as error:
            logger.exception("a command failed")
            self._publisher.send_internal_error(error)

    def _interrupt(self) -> None:
        """Cancel the running turn. Without one, cancel plans and reverts, or else side questions."""
        if self._turns.is_running:
            self._turns.interrupt()
        elif not self._cancel_plans_and_revert():
            self._services.side_questions.cancel_running()

    # A revert that is canceled before its first change does nothing. After that, it completes.

    def _cancel_plans_and_revert(self) -> bool:
        """Cancel running plans and the running revert. Return whether any were running."""
        tasks = [task for task in (self._revert, *self._plans) if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        return bool(tasks)

    async def _run_after_plans(self, command: Command, group: asyncio.TaskGroup, recorder: Recorder) -> None:
        if self._plans:
            await asyncio.wait(self._plans)
        await self._run(command, group, recorder)
        await self._report_errors(self._services.attempts.show_adopted())

    async def _wait_for_revert(self) -> None:
        if self._revert is not None:
            await asyncio.wait([self._revert])
            self._revert = None
