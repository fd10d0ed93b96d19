"""The course of a session: its turns one after another, its jumps, and what slash commands do in it."""

from collections.abc import Sequence

from kimi_tui.base.value import value
from kimi_tui.engine.acts import SessionActs
from kimi_tui.engine.journey import Journey
from kimi_tui.engine.slash import own_commands
from kimi_tui.engine.slash_book import AnyCommand, SlashBook
from kimi_tui.engine.slash_desk import SlashDesk
from kimi_tui.engine.telling import Telling
from kimi_tui.engine.time_machine import TimeMachine
from kimi_tui.engine.title import Title
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.engine.travel_slash import travel_commands
from kimi_tui.engine.turns import Turns
from kimi_tui.soul.soul import Soul
from kimi_tui.wire.channel import Wire


@value(kw_only=True)
class Course:
    """What moves the conversation on, or back. Each part knows whether another is under way."""

    turns: Turns
    journey: Journey
    slash: SlashDesk


def lay_course(
    *,
    wire: Wire,
    soul: Soul,
    time_machine: TimeMachine,
    todos: SessionTodos,
    title: Title,
    telling: Telling,
    commands: Sequence[AnyCommand],
    max_time_s: float | None,
) -> Course:
    """The course of one session, with `commands` behind those that every session has. Nothing runs yet."""
    turns = Turns(soul, send=wire.send, max_time_s=max_time_s, files=time_machine.files.take_changed_by_tools)
    acts = SessionActs(
        turns=turns, soul=soul, travels=time_machine.travels, todos=todos, title=title, telling=telling
    )
    journey = Journey(acts, telling=telling.errors, goes_on=wire.goes_on)
    book = SlashBook(
        (*own_commands(acts), *travel_commands(journey), *commands),
        changed=telling.info,
    )
    telling.slash_commands = lambda: tuple(it.info for it in book.commands)
    return Course(turns=turns, journey=journey, slash=SlashDesk(book, turns=turns, soul=soul, send=wire.send))
