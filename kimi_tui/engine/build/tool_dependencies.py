"""Builder of the dependencies that are injected into a session's tools."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from kimi_tui.base.frozen import frozen
from kimi_tui.engine.build.core import SessionCore
from kimi_tui.engine.build.sandbox import CommandBoundsBuilder, open_sandbox
from kimi_tui.engine.build.web import build_fetcher, build_search_service
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.hooks.dispatcher import HookDispatcher
from kimi_tui.soul.wire_questions import WireQuestions
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.dmail import DMailbox
from kimi_tui.tools.file.client_editor import Editor
from kimi_tui.tools.file.media import ModelCapabilities
from kimi_tui.tools.file.read_tracker import FileTracker
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.plan.plan_mode_control import PlanModeControl
from kimi_tui.tools.questions import Questions
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.tools.shell.client_terminals import Terminals
from kimi_tui.tools.shell.private_command import PrivateCommands
from kimi_tui.tools.shell.process_registry import ProcessRegistry
from kimi_tui.tools.shell.shell import Shell
from kimi_tui.tools.shell.trial_runs import TrialRuns
from kimi_tui.tools.todo import TodoStore
from kimi_tui.tools.web.page_fetcher import PageFetcher
from kimi_tui.tools.web.search import SearchService
from kimi_tui.workspaces.overlay.write_limit import WriteLimit
from kimi_tui.workspaces.sandbox.sandbox import CommandSandbox
from kimi_tui.workspaces.workspaces import Workspaces


@frozen(kw_only=True)
class ToolDependencies:
    """Objects that the tools of a session's agents share."""

    todos: SessionTodos
    dmailbox: DMailbox
    sandbox: CommandSandbox | None
    shell: Shell
    bounds: CommandBoundsBuilder
    workspaces: Workspaces
    private_commands: PrivateCommands
    trial_runs: TrialRuns
    file_tracker: FileTracker
    output_folder: OutputFolder
    by_type: dict[Any, object]
    """Dependencies by annotated type. `build_agent_runtime` adds others."""


async def build_tool_dependencies(core: SessionCore, resources: AsyncExitStack) -> ToolDependencies:
    """Build the dependencies of the session's tools.

    First kill commands that are still running from the session's last run.
    """
    session, options, settings = core.session, core.options, core.settings
    todos = SessionTodos(session, core.context, core.wire)
    dmailbox = DMailbox()
    process_registry = ProcessRegistry(session.dir / "commands")
    await asyncio.to_thread(process_registry.kill_all)
    sandbox = await open_sandbox(options, session, core.workspace)
    if sandbox is not None:
        core.workspace.bounds = sandbox
        resources.push_async_callback(sandbox.close)
    workspaces = Workspaces(
        options.data_dir,
        choice=settings.workspaces.backend,
        limit=WriteLimit(max_mb=settings.workspaces.max_mb),
    )
    resources.push_async_callback(workspaces.close)
    shell = Shell(environment=core.environment, process_registry=process_registry, sandbox=sandbox)
    resources.push_async_callback(shell.close)
    file_tracker = FileTracker()
    output_folder = OutputFolder(session.dir / "output")
    created_files = file_tracker.created_files
    private_commands = PrivateCommands(
        workspaces, shell, core.workspace, output_folder, options.terminals, created_files
    )
    bounds = CommandBoundsBuilder(options, session, core.workspace)
    resources.push_async_callback(bounds.close)
    trial_runs = TrialRuns(workspaces, shell, core.workspace, private_commands, bounds, created_files)
    by_type: dict[Any, object] = {
        PathScope: core.workspace,
        Approval: core.approval,
        PlanModeControl: core.modes,
        Questions: WireQuestions(core.wire, core.runtime_settings),
        HookDispatcher: core.hooks,
        TodoStore: todos,
        DMailbox: dmailbox,
        FileTracker: file_tracker,
        Editor: options.editor,
        Terminals: options.terminals,
        ModelCapabilities: core.runtime_settings,
        Shell: shell,
        PrivateCommands: private_commands,
        TrialRuns: trial_runs,
        OutputFolder: output_folder,
        PageFetcher: build_fetcher(settings.web),
        SearchService: build_search_service(settings),
    }
    return ToolDependencies(
        todos=todos,
        dmailbox=dmailbox,
        sandbox=sandbox,
        shell=shell,
        bounds=bounds,
        workspaces=workspaces,
        private_commands=private_commands,
        trial_runs=trial_runs,
        file_tracker=file_tracker,
        output_folder=output_folder,
        by_type=by_type,
    )
