from kimi_tui.base.content_parts import AudioURLPart, ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.llm.anthropic.request import TurnMessages
from tests.llm.conversations import PIXEL
from tests.llm.servers import assert_valid_request


def request_messages(*history: Message) -> list[dict]:
    turns = TurnMessages()
    messages = [encoded for message in history for encoded in turns.encode(message)] + turns.trailing_messages
    assert_valid_request({"max_tokens": 1, "system": [], "messages": messages})
    return messages


def calls(*ids: str) -> Message:
    return Message("assistant", (), tuple(ToolCall(call_id, FunctionCall("Read", "{}")) for call_id in ids))


def result(call_id: str, *parts) -> Message:
    return Message("tool", parts, tool_call_id=call_id)


def kinds(message: dict) -> list[str]:
    return [block["type"] for block in message["content"]]


def test_results_and_the_following_prompt_are_one_user_message():
    messages = request_messages(
        user_message("a"), calls("x", "y"), result("x", TextPart("1")), result("y"), user_message("go on")
    )
    assert kinds(messages[2]) == ["tool_result", "tool_result", "text"]


def test_consecutive_messages_of_one_role_are_merged():
    messages = request_messages(
        user_message("a"),
        user_message("b"),
        Message("assistant", (TextPart("c"),)),
        Message("assistant", (TextPart("d"),)),
        user_message("e"),
    )
    assert [kinds(message) for message in messages] == [["text", "text"], ["text", "text"], ["text"]]


def test_blank_texts_and_empty_messages_are_omitted():
    messages = request_messages(
        user_message("a"),
        Message("assistant", (TextPart(" \n"), ThinkPart("hm", "sig"))),
        user_message((TextPart(""), TextPart("b"))),
    )
    assert [kinds(message) for message in messages] == [["text", "text"]]


def test_a_system_message_becomes_a_system_note():
    [message] = request_messages(Message("system", (TextPart("be brief"),)), user_message("a"))
    assert message["content"][0]["text"] == "<system>be brief</system>"


def test_a_conversation_that_starts_with_a_response_gets_a_user_message_first():
    messages = request_messages(calls("x"), result("x", TextPart("1")))
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]


def test_ids_become_valid_and_unique_and_results_use_the_same_ids():
    messages = request_messages(
        user_message("a"),
        calls("functions.Read:0", "functions.Read_0"),
        result("functions.Read:0", TextPart("1")),
        result("functions.Read_0", TextPart("2")),
        calls("functions.Read:0"),
        result("functions.Read:0", TextPart("3")),
    )
    assert [block["id"] for block in messages[1]["content"]] == ["functions_Read_0", "functions_Read_0_2"]
    assert [block["tool_use_id"] for block in messages[2]["content"]] == [
        "functions_Read_0",
        "functions_Read_0_2",
    ]
    assert messages[3]["content"][0]["id"] == messages[4]["content"][0]["tool_use_id"] == "functions_Read_0_3"


def test_invalid_tool_names_are_replaced():
    odd = Message("assistant", (), (ToolCall("a", FunctionCall("functions.Bash" * 9, "{}")),))
    messages = request_messages(user_message("a"), odd, result("a", TextPart("There is no such tool.")))
    assert messages[1]["content"][0]["name"] == ("functions_Bash" * 9)[:64]


def test_images_stay_inside_their_results_and_audio_is_replaced_by_a_note():
    messages = request_messages(
        user_message((TextPart("a"), AudioURLPart(MediaURL("data:audio/wav;base64,AA")))),
        calls("x"),
        result("x", TextPart("see"), ImageURLPart(MediaURL(PIXEL))),
    )
    assert "omitted" in messages[0]["content"][1]["text"]
    assert [block["type"] for block in messages[2]["content"][0]["content"]] == ["text", "image"]


def test_thinking_between_two_calls_keeps_its_position():
    thoughts = (ThinkPart("first", "s1"), ThinkPart("then", "s2", calls_before=1))
    response = Message("assistant", thoughts, calls("x", "y").tool_calls)
    messages = request_messages(user_message("a"), response, result("x"), result("y"))
    assert kinds(messages[1]) == ["thinking", "tool_use", "thinking", "tool_use"]
    assert messages[1]["content"][2]["thinking"] == "then"
