"""Making sub-agents: from their spec, with what the session shares among its agents."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Protocol

from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.agentspec.spec import ResolvedAgentSpec, SubagentSpec
from kimi_tui.base.value import value
from kimi_tui.engine.agents import make_agent
from kimi_tui.engine.injection import Collaborators
from kimi_tui.engine.models import Models
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.engine.subagents.records import SubagentRecord, SubagentRecords
from kimi_tui.engine.toolbox import BUILTIN_TOOLS, Toolbox
from kimi_tui.history.context import Context
from kimi_tui.hooks.hooks import Firing, SubagentHooks
from kimi_tui.soul.approval import ApprovalSource, WireApproval
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.call_ids import CallIds
from kimi_tui.soul.compacting import Compaction
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.send import Send
from kimi_tui.soul.soul import Soul
from kimi_tui.soul.sourced_approval import SourcedApproval
from kimi_tui.soul.spending import Spending
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.dmail import DMailbox
from kimi_tui.tools.file.ledger import FileLedger, PathLocks
from kimi_tui.tools.file.media import ModelSenses
from kimi_tui.tools.task import Delegation, Task
from kimi_tui.tools.todo import TodoStore
from kimi_tui.tools.toolset import Toolset
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.display import TodoItem


class Lender(Protocol):
    """Lends tools."""

    def __call__(
        self, toolset: Toolset, *, approval: Approval, excluded: Sequence[str] = ()
    ) -> Callable[[], None]:
        """Lend `toolset` tools that ask `approval`. The answer ends that."""
        ...


@value(kw_only=True)
class Household:
    """What all agents of a session share: nobody below has more rights than the session."""

    workspace: Workspace
    approval: WireApproval
    behaviour: Behaviour
    models: Models
    spending: Spending
    call_ids: CallIds
    files: SessionFiles
    tasks: BackgroundTasks
    writes: PathLocks
    limits: Limits
    """Of a sub-agent's task."""
    compaction: Compaction
    hooks: Firing
    skills: str
    """As system prompts list them."""
    collaborators: Collaborators
    """What tools ask for that is not an agent's own."""
    lenders: list[Lender] = field(default_factory=list)
    """Those who lend every sub-agent tools of theirs, such as those of MCP servers."""


@value
class Worker:
    """A sub-agent, ready to work."""

    soul: Soul
    context: Context
    call_ids: CallIds
    loans: Sequence[Callable[[], None]]

    async def close(self) -> None:
        """It works no more."""
        for give_back in self.loans:
            give_back()
        self.call_ids.close()
        await self.context.close()


class Workshop:
    """Makes the sub-agents of a session."""

    def __init__(self, household: Household, records: SubagentRecords) -> None:
        self._household = household
        self._records = records

    async def worker(
        self,
        record: SubagentRecord,
        subagent: SubagentSpec,
        *,
        source: ApprovalSource,
        send: Send,
        delegation: Callable[[ResolvedAgentSpec], Delegation | None],
        keep_todos: Callable[[tuple[TodoItem, ...]], None],
    ) -> Worker:
        """The sub-agent of `record`, with its conversation as far as it got.

        `delegation` says what it may give on to others. Raises ConfigError, ModelNotSet and SessionError.
        """
        house = self._household
        spec = await asyncio.to_thread(load_agent_spec, subagent.path, known_tools=BUILTIN_TOOLS)
        model = record.model or spec.model
        behaviour = (
            replace(house.behaviour, llm=house.models.named(model)) if model else replace(house.behaviour)
        )
        todos = OwnTodos(record.todos, keep_todos)
        dmailbox = DMailbox()
        below = delegation(spec)
        approval = SourcedApproval(house.approval, source)
        own: Collaborators = {
            Approval: approval,
            TodoStore: todos,
            DMailbox: dmailbox,
            FileLedger: FileLedger(house.writes),
            ModelSenses: behaviour,
            **({Delegation: below} if below is not None else {}),
        }
        agent = await asyncio.to_thread(
            make_agent,
            spec if below is not None else _without_task(spec),
            house.workspace,
            Toolbox({**house.collaborators, **own}),
            behaviour.capabilities,
            skills=house.skills,
        )
        context = Context(self._records.context_file(record.id))
        await context.restore()
        call_ids = house.call_ids.beside()
        soul = Soul(
            agent=agent,
            context=context,
            behaviour=behaviour,
            limits=house.limits,
            dmailbox=dmailbox,
            spending=house.spending,
            send=send,
            file_states=house.files.of_agent(record.id),
            compaction=replace(house.compaction, todos=lambda: todos.items, restated=()),
            call_ids=call_ids,
            reminders=(house.tasks.news_for(call_ids.owns),),
            hooks=SubagentHooks(house.hooks),
        )
        loans = [lend(agent.toolset, approval=approval, excluded=spec.mcp_exclude) for lend in house.lenders]
        return Worker(soul, context, call_ids, loans)


class OwnTodos:
    """A sub-agent's own list, which nobody else sees."""

    def __init__(self, items: tuple[TodoItem, ...], keep: Callable[[tuple[TodoItem, ...]], None]) -> None:
        self.items = items
        self._keep = keep

    async def set(self, items: tuple[TodoItem, ...]) -> None:
        """Replace the list."""
        self.items = items
        self._keep(items)


def _without_task(spec: ResolvedAgentSpec) -> ResolvedAgentSpec:
    """`spec` of an agent that gives nothing on."""
    return replace(
        spec, tools=tuple(tool for tool in spec.tools if BUILTIN_TOOLS.get(tool.reference) != _TASK)
    )


_TASK = f"{Task.__module__}:{Task.__name__}"
