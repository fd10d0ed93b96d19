from kimi_tui.base.content import AudioURLPart, ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.llm.messages_request import TurnMessages
from tests.llm.conversations import PIXEL
from tests.llm.servers import assert_valid_request


def sent(*history: Message) -> list[dict]:
    turns = TurnMessages()
    made = [message for heard in history for message in turns.sent_for(heard)] + turns.left
    assert_valid_request({"max_tokens": 1, "system": [], "messages": made})
    return made


def calls(*ids: str) -> Message:
    return Message("assistant", (), tuple(ToolCall(call_id, FunctionCall("Read", "{}")) for call_id in ids))


def result(call_id: str, *parts) -> Message:
    return Message("tool", parts, tool_call_id=call_id)


def kinds(message: dict) -> list[str]:
    return [block["type"] for block in message["content"]]


def test_results_and_what_is_said_after_them_are_one_user_message():
    made = sent(
        user_message("a"), calls("x", "y"), result("x", TextPart("1")), result("y"), user_message("go on")
    )
    assert kinds(made[2]) == ["tool_result", "tool_result", "text"]


def test_messages_of_one_role_in_a_row_are_merged():
    made = sent(
        user_message("a"),
        user_message("b"),
        Message("assistant", (TextPart("c"),)),
        Message("assistant", (TextPart("d"),)),
        user_message("e"),
    )
    assert [kinds(message) for message in made] == [["text", "text"], ["text", "text"], ["text"]]


def test_blank_texts_and_messages_without_anything_are_left_out():
    made = sent(
        user_message("a"),
        Message("assistant", (TextPart(" \n"), ThinkPart("hm", "sig"))),
        user_message((TextPart(""), TextPart("b"))),
    )
    assert [kinds(message) for message in made] == [["text", "text"]]


def test_a_system_message_becomes_a_note_to_the_model():
    [message] = sent(Message("system", (TextPart("be brief"),)), user_message("a"))
    assert message["content"][0]["text"] == "<system>be brief</system>"


def test_a_conversation_that_begins_with_an_answer_still_begins_with_a_user():
    made = sent(calls("x"), result("x", TextPart("1")))
    assert [message["role"] for message in made] == ["user", "assistant", "user"]


def test_ids_are_made_plain_and_unique_and_results_follow_them():
    made = sent(
        user_message("a"),
        calls("functions.Read:0", "functions.Read_0"),
        result("functions.Read:0", TextPart("1")),
        result("functions.Read_0", TextPart("2")),
        calls("functions.Read:0"),
        result("functions.Read:0", TextPart("3")),
    )
    assert [block["id"] for block in made[1]["content"]] == ["functions_Read_0", "functions_Read_0_2"]
    assert [block["tool_use_id"] for block in made[2]["content"]] == [
        "functions_Read_0",
        "functions_Read_0_2",
    ]
    assert made[3]["content"][0]["id"] == made[4]["content"][0]["tool_use_id"] == "functions_Read_0_3"


def test_names_that_no_tool_could_have_are_made_plain():
    odd = Message("assistant", (), (ToolCall("a", FunctionCall("functions.Bash" * 9, "{}")),))
    made = sent(user_message("a"), odd, result("a", TextPart("There is no such tool.")))
    assert made[1]["content"][0]["name"] == ("functions_Bash" * 9)[:64]


def test_images_of_results_stay_inside_them_and_sounds_are_said_to_be_left_out():
    made = sent(
        user_message((TextPart("a"), AudioURLPart(MediaURL("data:audio/wav;base64,AA")))),
        calls("x"),
        result("x", TextPart("see"), ImageURLPart(MediaURL(PIXEL))),
    )
    assert "left out" in made[0]["content"][1]["text"]
    assert [block["type"] for block in made[2]["content"][0]["content"]] == ["text", "image"]
