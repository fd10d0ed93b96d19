"""Builder of a session's turn queue, revert scheduler and slash commands."""

from collections.abc import Sequence

from kimi_tui.base.frozen import frozen
from kimi_tui.engine.session.actions import SessionActions
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.session.title import SessionTitle
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.engine.session.turns import TurnQueue
from kimi_tui.engine.slash.builtin import builtin_commands
from kimi_tui.engine.slash.dispatcher import SlashDispatcher
from kimi_tui.engine.slash.registry import AnyCommand, SlashRegistry
from kimi_tui.engine.slash.timeline import timeline_slash_commands
from kimi_tui.engine.timeline.revert_scheduler import RevertScheduler
from kimi_tui.engine.timeline.service import TimelineService
from kimi_tui.soul.soul import Soul
from kimi_tui.wire.channel import Wire


@frozen(kw_only=True)
class SessionHandlers:
    """Handlers of commands that change the conversation. Each one knows whether another is running."""

    turns: TurnQueue
    revert_scheduler: RevertScheduler
    slash: SlashDispatcher


def build_handlers(
    *,
    wire: Wire,
    soul: Soul,
    timeline: TimelineService,
    todos: SessionTodos,
    title: SessionTitle,
    publisher: SessionPublisher,
    commands: Sequence[AnyCommand],
    max_time_s: float | None,
) -> SessionHandlers:
    """Build the handlers of a session, with `commands` after the built-in commands. Starts nothing."""
    turns = TurnQueue(soul, sender=wire, max_time_s=max_time_s, pop_tool_paths=timeline.files.pop_tool_paths)
    actions = SessionActions(
        turns=turns,
        soul=soul,
        timeline_commands=timeline.timeline_commands,
        todos=todos,
        title=title,
        publisher=publisher,
    )
    revert_scheduler = RevertScheduler(
        actions, report_errors=publisher.report_errors, defer_completion=wire.defer_completion
    )
    registry = SlashRegistry(
        (*builtin_commands(actions), *timeline_slash_commands(revert_scheduler), *commands),
        on_change=publisher.send_info,
    )
    publisher.slash_commands = lambda: tuple(it.info for it in registry.commands)
    return SessionHandlers(
        turns=turns,
        revert_scheduler=revert_scheduler,
        slash=SlashDispatcher(registry, turns=turns, soul=soul, sender=wire),
    )
