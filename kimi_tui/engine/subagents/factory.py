"""Factory for sub-agents."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Protocol

from kimi_tui.agentspec.loader import load_agent_spec
from kimi_tui.agentspec.spec import ResolvedAgentSpec, SubagentSpec
from kimi_tui.base.frozen import frozen
from kimi_tui.engine.build.agent import build_agent
from kimi_tui.engine.build.injection import Dependencies
from kimi_tui.engine.build.tool_factory import BUILTIN_TOOLS, ToolFactory
from kimi_tui.engine.files.session_files import IsolatedFiles, SessionFiles
from kimi_tui.engine.models.model_pool import ModelPool
from kimi_tui.engine.subagents.isolated_workspace import IsolatedWorkspace, IsolatedWorkspaces
from kimi_tui.engine.subagents.store import SubagentRecord, SubagentStore
from kimi_tui.history.context import Context
from kimi_tui.history.session_state import PromptFacts
from kimi_tui.hooks.dispatcher import HookDispatcher, SubagentHookDispatcher
from kimi_tui.soul.call_ids import CallIds
from kimi_tui.soul.compactor import CompactionConfig
from kimi_tui.soul.file_states import FileStates
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.soul import Soul
from kimi_tui.soul.subagent_approval import SubagentApproval
from kimi_tui.soul.usage_totals import UsageTotals
from kimi_tui.soul.wire_approval import ApprovalSource, WireApproval
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.background.tasks import BackgroundTasks, SubagentTaskReminder
from kimi_tui.tools.dmail import DMailbox
from kimi_tui.tools.file.created_files import CreatedFiles
from kimi_tui.tools.file.media import ModelCapabilities
from kimi_tui.tools.file.read_tracker import FileTracker, PathLocks
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.task import SubagentRunner, Task
from kimi_tui.tools.todo import TodoStore
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.event_sender import EventSender


class ToolProvider(Protocol):
    """Registers additional tools with a sub-agent's toolset."""

    def register_tools(
        self,
        toolset: Toolset,
        *,
        approval: Approval,
        model: RuntimeSettings,
        excluded: Sequence[str] = (),
    ) -> Callable[[], None]:
        """Register tools with `toolset`, for an agent that uses `model`.

        The tools request permission from `approval`. Return a function that unregisters them.
        """
        ...


@frozen(kw_only=True)
class SharedServices:
    """Services that all agents of a session share. No sub-agent has more permissions than the session."""

    workspace: PathScope
    approval: WireApproval
    runtime_settings: RuntimeSettings
    models: ModelPool
    usage_totals: UsageTotals
    call_ids: CallIds
    files: SessionFiles
    tasks: BackgroundTasks
    path_locks: PathLocks
    created_files: CreatedFiles
    limits: Limits
    """Limits of a sub-agent's task."""
    compaction: CompactionConfig
    hooks: HookDispatcher
    prompt_facts: PromptFacts
    skills: str
    """The list of skills for system prompts."""
    dependencies: Dependencies
    """Tool dependencies that aren't specific to an agent."""
    isolated: IsolatedWorkspaces
    tool_providers: list[ToolProvider] = field(default_factory=list)
    """Provide every sub-agent with additional tools, such as those of MCP servers."""


@frozen
class SubagentInstance:
    """A sub-agent that is ready to run."""

    soul: Soul
    context: Context
    call_ids: CallIds
    todos: "SubagentTodos"
    unregister_callbacks: Sequence[Callable[[], None]]
    workspace: IsolatedWorkspace | None = None
    """The sub-agent's own workspace. None: the working directory."""

    async def close(self, prompt: str) -> None:
        """Release the sub-agent's workspace, tools, call ids and conversation. `prompt` is its task."""
        try:
            if self.workspace is not None:
                await self.workspace.close(prompt)
        finally:
            for unregister in self.unregister_callbacks:
                unregister()
            self.call_ids.close()
            await self.context.close()


class SubagentFactory:
    """Builds the sub-agents of a session."""

    def __init__(self, shared: SharedServices, store: SubagentStore) -> None:
        self._shared = shared
        self._store = store

    async def build(
        self,
        record: SubagentRecord,
        subagent: SubagentSpec,
        *,
        source: ApprovalSource,
        sender: EventSender,
        delegation: Callable[[ResolvedAgentSpec], SubagentRunner | None],
    ) -> SubagentInstance:
        """Build the sub-agent of `record`, with its conversation so far. Raises KimiTuiError.

        `delegation` returns the runner of nested sub-agents. A sub-agent with its own workspace can't
        delegate.
        """
        spec = await asyncio.to_thread(load_agent_spec, subagent.path, known_tools=BUILTIN_TOOLS)
        if spec.isolation == "none":
            return await self._build(
                record, spec, None, source=source, sender=sender, nested=delegation(spec)
            )
        workspace = await self._shared.isolated.open()
        try:
            return await self._build(record, spec, workspace, source=source, sender=sender, nested=None)
        except BaseException:
            await workspace.close("")
            raise

    async def _build(
        self,
        record: SubagentRecord,
        spec: ResolvedAgentSpec,
        workspace: IsolatedWorkspace | None,
        *,
        source: ApprovalSource,
        sender: EventSender,
        nested: SubagentRunner | None,
    ) -> SubagentInstance:
        shared = self._shared
        model = record.model or spec.model
        runtime_settings = (
            replace(shared.runtime_settings, llm=shared.models.get(model))
            if model
            else replace(shared.runtime_settings)
        )
        todos = SubagentTodos(record.todos)
        dmailbox = DMailbox()
        approval = SubagentApproval(shared.approval, source)
        own_dependencies: Dependencies = {
            Approval: approval,
            TodoStore: todos,
            DMailbox: dmailbox,
            FileTracker: FileTracker(shared.path_locks, shared.created_files),
            ModelCapabilities: runtime_settings,
            **({SubagentRunner: nested} if nested is not None else {}),
            **(workspace.dependencies if workspace is not None else {}),
        }
        agent = await asyncio.to_thread(
            build_agent,
            spec if nested is not None else _remove_task_tool(spec),
            shared.workspace,
            ToolFactory({**shared.dependencies, **own_dependencies}),
            runtime_settings.capabilities,
            facts=shared.prompt_facts,
            skills=shared.skills,
        )
        context = Context(self._store.context_file(record.id))
        await context.restore()
        call_ids = shared.call_ids.new_sibling()
        files: FileStates = shared.files.for_subagent(record.id)
        if workspace is not None:
            files = IsolatedFiles(shared.files, record.id)
        soul = Soul(
            agent=agent,
            context=context,
            runtime_settings=runtime_settings,
            limits=shared.limits,
            dmailbox=dmailbox,
            usage_totals=shared.usage_totals,
            sender=sender,
            file_states=files,
            compaction=replace(shared.compaction, todos=todos, tasks=None),
            call_ids=call_ids,
            reminders=(SubagentTaskReminder(shared.tasks, call_ids),),
            hooks=SubagentHookDispatcher(shared.hooks),
        )
        unregister_callbacks = [
            provider.register_tools(
                agent.toolset, approval=approval, model=runtime_settings, excluded=spec.mcp_exclude
            )
            for provider in shared.tool_providers
        ]
        return SubagentInstance(soul, context, call_ids, todos, unregister_callbacks, workspace)


class SubagentTodos:
    """A sub-agent's own todo list."""

    def __init__(self, items: tuple[TodoItem, ...]) -> None:
        self.items = items

    async def set(self, items: tuple[TodoItem, ...]) -> None:
        """Replace the list."""
        self.items = items


def _remove_task_tool(spec: ResolvedAgentSpec) -> ResolvedAgentSpec:
    """Return `spec` without the Task tool, for an agent that can't delegate."""
    return replace(
        spec, tools=tuple(tool for tool in spec.tools if BUILTIN_TOOLS.get(tool.reference) != _TASK)
    )


_TASK = f"{Task.__module__}:{Task.__name__}"
