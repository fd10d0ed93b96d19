"""Replay of a resumed conversation as events."""

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart, system_note
from kimi_tui.base.message import FunctionCall, Message, ToolCall, steer_message, user_message
from kimi_tui.engine.recording.replay import replay_events
from kimi_tui.history.message_history import interrupted_result
from kimi_tui.tools.result_messages import result_message
from kimi_tui.tools.tool import failure, success
from kimi_tui.wire.display_blocks import BriefBlock
from kimi_tui.wire.events import StepBegin, ToolResult, ToolReturn, TurnBegin, TurnEnd

CALL = ToolCall("c1", FunctionCall("LS", "{}"))


def test_turns_and_steps_are_replayed() -> None:
    history = [
        user_message("look"),
        Message("assistant", (ThinkPart("hm"), TextPart("looking")), (CALL,)),
        result_message(CALL, success("a.py")),
        Message("assistant", (TextPart("one file"),)),
        user_message("thanks"),
    ]
    assert list(replay_events(history, {"c1": [success("a.py", brief="1 entry")]})) == [
        TurnBegin("look"), StepBegin(1), ThinkPart("hm"), TextPart("looking"), CALL,
        ToolResult("c1", ToolReturn(output="a.py", display=(BriefBlock("1 entry"),))),
        StepBegin(2), TextPart("one file"), TurnEnd(steps=2), TurnBegin("thanks"), TurnEnd(),
    ]  # fmt: skip


def test_a_result_that_was_not_recorded_is_parsed_from_its_message() -> None:
    history = [
        user_message("x"),
        Message("assistant", (), (CALL,)),
        result_message(CALL, failure("no such folder", output="ls: nope")),
    ]
    (result,) = [event for event in replay_events(history, {}) if isinstance(event, ToolResult)]
    assert result.return_value == ToolReturn(True, (TextPart("ls: nope"),), "no such folder")


def test_a_call_interrupted_by_a_crash_is_an_error() -> None:
    history = [user_message("x"), Message("assistant", (), (CALL,)), interrupted_result(CALL)]
    (result,) = [event for event in replay_events(history, {}) if isinstance(event, ToolResult)]
    assert result.return_value.is_error


def test_results_of_calls_with_the_same_id_are_not_confused() -> None:
    history = [user_message("x"), Message("assistant", (), (CALL,)), result_message(CALL, success("here"))]
    recorded = [success("elsewhere", brief="a"), success("here", brief="b"), success("elsewhere", brief="c")]
    (result,) = [event for event in replay_events(history, {"c1": recorded}) if isinstance(event, ToolResult)]
    assert result.return_value == success("here", brief="b")


def test_notes_from_the_program_are_omitted() -> None:
    history = [user_message((system_note("CHECKPOINT 0"),)), user_message("hi")]
    assert [event for event in replay_events(history, {}) if isinstance(event, TurnBegin)] == [
        TurnBegin("hi")
    ]


def test_a_steer_is_replayed_within_its_turn() -> None:
    history = [
        user_message("look"),
        Message("assistant", (TextPart("looking"),), (CALL,)),
        result_message(CALL, success("a.py")),
        steer_message("and be quick"),
        Message("assistant", (TextPart("done"),)),
    ]
    events = [type(event).__name__ for event in replay_events(history, {})]
    assert events == [
        "TurnBegin", "StepBegin", "TextPart", "ToolCall", "ToolResult", "SteerInput",
        "StepBegin", "TextPart", "TurnEnd",
    ]  # fmt: skip


def test_a_steer_without_its_turn_begins_a_turn() -> None:
    assert list(replay_events([steer_message("be quick")], {})) == [TurnBegin("be quick"), TurnEnd()]


def test_images_in_prompts_are_replayed() -> None:
    parts = (TextPart("see"), ImageURLPart(MediaURL("data:image/png;base64,AA==")))
    assert next(iter(replay_events([user_message(parts)], {}))) == TurnBegin(parts)
