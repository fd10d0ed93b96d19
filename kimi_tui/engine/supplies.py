"""The supplies of a session's tools: what their constructors ask for, by type."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from kimi_tui.base.value import value
from kimi_tui.engine.ground import Ground
from kimi_tui.engine.sandbox import open_sandbox
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.engine.web import new_fetcher, search_service
from kimi_tui.hooks.hooks import Firing
from kimi_tui.soul.questions import WireQuestions
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.dmail import DMailbox
from kimi_tui.tools.file.editor import Editor
from kimi_tui.tools.file.ledger import FileLedger
from kimi_tui.tools.file.media import ModelSenses
from kimi_tui.tools.plan.planning import Planning
from kimi_tui.tools.questions.asking import Questions
from kimi_tui.tools.sandbox.sandbox import Sandbox
from kimi_tui.tools.shell.output import OutputFolder
from kimi_tui.tools.shell.process import Shell
from kimi_tui.tools.shell.survivors import Survivors
from kimi_tui.tools.shell.terminals import Terminals
from kimi_tui.tools.todo import TodoStore
from kimi_tui.tools.web.fetcher import Fetcher
from kimi_tui.tools.web.search import SearchService
from kimi_tui.tools.workspace import Workspace


@value(kw_only=True)
class Supplies:
    """What the tools of a session's agents share, and what else the session needs of that."""

    todos: SessionTodos
    dmailbox: DMailbox
    sandbox: Sandbox | None
    ledger: FileLedger
    output: OutputFolder
    by_type: dict[Any, object]
    """For tools, which ask by annotation. Whoever is built later adds itself."""


async def lay_in_supplies(ground: Ground, resources: AsyncExitStack) -> Supplies:
    """The supplies of the session on `ground`; what its last run left running is ended before."""
    session, options, settings = ground.session, ground.options, ground.settings
    todos = SessionTodos(session, ground.context, ground.wire.send)
    dmailbox = DMailbox()
    survivors = Survivors(session.dir / "commands")
    await asyncio.to_thread(survivors.end_all)
    sandbox = await open_sandbox(options, session, ground.workspace)
    if sandbox is not None:
        resources.push_async_callback(sandbox.close)
    shell = Shell(environment=ground.environment, survivors=survivors, confinement=sandbox)
    resources.push_async_callback(shell.close)
    ledger = FileLedger()
    output = OutputFolder(session.dir / "output")
    by_type: dict[Any, object] = {
        Workspace: ground.workspace,
        Approval: ground.approval,
        Planning: ground.modes,
        Questions: WireQuestions(ground.wire),
        Firing: ground.hooks,
        TodoStore: todos,
        DMailbox: dmailbox,
        FileLedger: ledger,
        Editor: options.editor,
        Terminals: options.terminals,
        ModelSenses: ground.behaviour,
        Shell: shell,
        OutputFolder: output,
        Fetcher: new_fetcher(settings.web),
        SearchService: search_service(settings),
    }
    return Supplies(
        todos=todos, dmailbox=dmailbox, sandbox=sandbox, ledger=ledger, output=output, by_type=by_type
    )
