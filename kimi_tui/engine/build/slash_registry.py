"""Builder of a session's slash commands."""

from collections.abc import Sequence

from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.session.title import SessionTitle
from kimi_tui.engine.session.turns import TurnQueue
from kimi_tui.engine.slash.builtin import BuiltinCommands
from kimi_tui.engine.slash.registry import AnyCommand, SlashRegistry
from kimi_tui.engine.slash.timeline import timeline_slash_commands
from kimi_tui.engine.timeline.service import TimelineService
from kimi_tui.soul.soul import Soul


def build_slash_registry(
    *,
    soul: Soul,
    turns: TurnQueue,
    timeline: TimelineService,
    title: SessionTitle,
    publisher: SessionPublisher,
    commands: Sequence[AnyCommand],
) -> SlashRegistry:
    """Return the registry of a session's slash commands: built-in ones first, `commands` last."""
    builtin = BuiltinCommands(
        turns=turns, soul=soul, reverts=timeline.reverts, title=title, publisher=publisher
    )
    registry = SlashRegistry(
        (*builtin.all, *timeline_slash_commands(timeline.commands), *commands),
        info=publisher,
    )
    publisher.slash_registry = registry
    return registry
