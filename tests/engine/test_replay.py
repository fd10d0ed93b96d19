"""A resumed conversation as events."""

from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart, ThinkPart, system_note
from kimi_tui.base.message import FunctionCall, Message, ToolCall, steer_message, user_message
from kimi_tui.engine.replay import replayed
from kimi_tui.history.conversation import interrupted_result
from kimi_tui.tools.results import result_message
from kimi_tui.tools.tool import failed, ok
from kimi_tui.wire.display import BriefBlock
from kimi_tui.wire.events import StepBegin, ToolResult, ToolReturn, TurnBegin, TurnEnd

CALL = ToolCall("c1", FunctionCall("LS", "{}"))


def test_turns_and_steps_come_back_as_they_were() -> None:
    history = [
        user_message("look"),
        Message("assistant", (ThinkPart("hm"), TextPart("looking")), (CALL,)),
        result_message(CALL, ok("a.py")),
        Message("assistant", (TextPart("one file"),)),
        user_message("thanks"),
    ]
    assert list(replayed(history, {"c1": [ok("a.py", brief="1 entry")]})) == [
        TurnBegin("look"), StepBegin(1), ThinkPart("hm"), TextPart("looking"), CALL,
        ToolResult("c1", ToolReturn(output="a.py", display=(BriefBlock("1 entry"),))),
        StepBegin(2), TextPart("one file"), TurnEnd(steps=2), TurnBegin("thanks"), TurnEnd(),
    ]  # fmt: skip


def test_a_result_that_was_not_recorded_is_read_off_its_message() -> None:
    history = [
        user_message("x"),
        Message("assistant", (), (CALL,)),
        result_message(CALL, failed("no such folder", output="ls: nope")),
    ]
    (result,) = [event for event in replayed(history, {}) if isinstance(event, ToolResult)]
    assert result.return_value == ToolReturn(True, (TextPart("ls: nope"),), "no such folder")


def test_a_call_that_a_crash_cut_short_did_not_succeed() -> None:
    history = [user_message("x"), Message("assistant", (), (CALL,)), interrupted_result(CALL)]
    (result,) = [event for event in replayed(history, {}) if isinstance(event, ToolResult)]
    assert result.return_value.is_error


def test_a_result_of_another_call_with_the_same_id_is_not_taken_for_it() -> None:
    history = [user_message("x"), Message("assistant", (), (CALL,)), result_message(CALL, ok("here"))]
    recorded = [ok("elsewhere", brief="a"), ok("here", brief="b"), ok("elsewhere", brief="c")]
    (result,) = [event for event in replayed(history, {"c1": recorded}) if isinstance(event, ToolResult)]
    assert result.return_value == ok("here", brief="b")


def test_the_programs_own_notes_are_left_out() -> None:
    history = [user_message((system_note("CHECKPOINT 0"),)), user_message("hi")]
    assert [event for event in replayed(history, {}) if isinstance(event, TurnBegin)] == [TurnBegin("hi")]


def test_what_was_said_within_a_turn_stays_within_it() -> None:
    history = [
        user_message("look"),
        Message("assistant", (TextPart("looking"),), (CALL,)),
        result_message(CALL, ok("a.py")),
        steer_message("and be quick"),
        Message("assistant", (TextPart("done"),)),
    ]
    events = [type(event).__name__ for event in replayed(history, {})]
    assert events == [
        "TurnBegin", "StepBegin", "TextPart", "ToolCall", "ToolResult", "SteerInput",
        "StepBegin", "TextPart", "TurnEnd",
    ]  # fmt: skip


def test_a_steer_whose_turn_is_gone_begins_one() -> None:
    assert list(replayed([steer_message("be quick")], {})) == [TurnBegin("be quick"), TurnEnd()]


def test_images_stay_in_what_the_user_said() -> None:
    parts = (TextPart("see"), ImageURLPart(MediaURL("data:image/png;base64,AA==")))
    assert next(iter(replayed([user_message(parts)], {}))) == TurnBegin(parts)
