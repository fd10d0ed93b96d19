"""Messages are classified once, by who handles them."""

from typing import get_args

from kimi_tui.base.content_parts import TextPart
from kimi_tui.frontend.message_batch import (
    MessageBatch,
    SessionMessage,
    TranscriptMessage,
    is_conversation_message,
    is_session_message,
)
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import (
    BtwBegin,
    BtwEnd,
    CostUpdate,
    Event,
    Notification,
    ReplayBegin,
    RevertPlan,
    SessionEvent,
    SideQuestionEvent,
    StepInterrupted,
    TimelineEvent,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import HookRequest, ToolCallRequest

ERROR = Notification("n1", "session", "error", "engine", "", "The revert failed.", "", severity="error")
PLAN = RevertPlan(1, "user", ())


def test_each_audience_gets_its_messages_in_order() -> None:
    begin, text, cost, end = TurnBegin("hi"), TextPart("hello"), CostUpdate(1.0), TurnEnd()
    batch = MessageBatch([ReplayBegin(), begin, text, cost, BtwBegin("b", "why?"), StepInterrupted(), end])
    assert batch.session == [ReplayBegin(), begin, text, cost, end]
    assert batch.conversation == [ReplayBegin(), begin, text, StepInterrupted(), end]
    assert batch.timeline == [begin, end]
    assert batch.side_questions == [BtwBegin("b", "why?")]


def test_messages_are_found_by_type() -> None:
    batch = MessageBatch([TurnEnd(steps=1), TextPart("hello"), TurnEnd(steps=2)])
    assert batch.of_type(TurnEnd) == [TurnEnd(steps=1), TurnEnd(steps=2)]
    assert not batch.of_type(TurnBegin)
    assert batch.has_any(TurnBegin, TextPart)
    assert not batch.has_any(TurnBegin, BtwEnd)


def test_a_message_that_a_dialog_shows_is_dropped_from_the_conversation() -> None:
    batch = MessageBatch([PLAN, ERROR, RevertPlan(1, "user", ())])
    batch.drop_from_conversation(PLAN)
    assert batch.conversation == [ERROR, RevertPlan(1, "user", ())]
    assert batch.timeline == [PLAN, ERROR, RevertPlan(1, "user", ())]


def test_every_message_but_those_for_clients_has_an_audience() -> None:
    audiences = get_args(SessionMessage | TranscriptMessage | TimelineEvent | SideQuestionEvent)
    assert set(get_args(Outgoing)) - set(audiences) == {ToolCallRequest, HookRequest}
    assert set(get_args(Event)) <= set(audiences)


def test_single_messages_are_classified_alike() -> None:
    assert is_session_message(CostUpdate(1.0))
    assert not is_conversation_message(CostUpdate(1.0))
    assert is_conversation_message(StepInterrupted())
    assert all(kind in get_args(SessionMessage) for kind in get_args(SessionEvent))
