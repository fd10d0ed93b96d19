import pytest

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.llm.openai.dialect import COMPATIBLE, DEEPSEEK, OPENAI, ChatDialect, openai_dialect
from kimi_tui.llm.openai.request import ChatMessages, RequestStyle
from tests.llm.conversations import PIXEL
from tests.llm.servers import assert_prefix_extension, assert_valid_request

IMAGE = ImageURLPart(MediaURL(PIXEL))


def request_messages(*history: Message, dialect: ChatDialect = COMPATIBLE) -> list[dict]:
    chat = ChatMessages(RequestStyle("", dialect, None))
    messages = [encoded for message in history for encoded in chat.encode(message)] + chat.trailing_messages
    assert_valid_request({"messages": messages})
    return messages


def calls(*ids: str) -> Message:
    return Message("assistant", (), tuple(ToolCall(call_id, FunctionCall("Read", "{}")) for call_id in ids))


def result(call_id: str, *parts) -> Message:
    return Message("tool", parts, tool_call_id=call_id)


def test_plain_text_is_sent_as_a_string():
    assert request_messages(user_message((TextPart("a"), TextPart("b")))) == [
        {"role": "user", "content": "a\nb"}
    ]


def test_images_in_results_follow_the_last_result_of_the_step():
    messages = request_messages(
        user_message("look"),
        calls("a", "b"),
        result("a", TextPart("first"), IMAGE),
        result("b", IMAGE),
        user_message("and now?"),
    )
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "user", "user"]
    assert messages[2]["content"] == "first"
    images = [block for block in messages[4]["content"] if block["type"] == "image_url"]
    assert images == [{"type": "image_url", "image_url": {"url": PIXEL}}] * 2


def test_images_in_results_keep_their_position_in_the_next_request():
    history = [user_message("look"), calls("a"), result("a", IMAGE)]
    following = [*history, Message("assistant", (TextPart("A cat."),)), user_message("sure?")]
    assert_prefix_extension(
        {"messages": request_messages(*history)}, {"messages": request_messages(*following)}
    )


def test_an_empty_result_is_not_sent_empty():
    assert request_messages(user_message("a"), calls("a"), result("a"))[-1]["content"]


def test_thinking_is_sent_back_only_if_the_dialect_requires_it():
    history = (user_message("a"), Message("assistant", (ThinkPart("hm"), TextPart("b"))))
    assert "reasoning_content" not in request_messages(*history)[-1]
    assert request_messages(*history, dialect=DEEPSEEK)[-1]["reasoning_content"] == "hm"


def test_ids_too_long_for_openai_are_shortened_in_calls_and_results():
    long_id = "functions." + "x" * 80 + ":0"
    messages = request_messages(
        user_message("a"), calls(long_id), result(long_id, TextPart("x")), dialect=OPENAI
    )
    assert len(messages[1]["tool_calls"][0]["id"]) <= 40
    assert (
        request_messages(user_message("a"), calls(long_id), result(long_id, TextPart("x")))[2]["tool_call_id"]
        == long_id
    )


def test_malformed_arguments_are_sent_as_a_json_object():
    broken = Message("assistant", (), (ToolCall("a", FunctionCall("Read", '{"path": ')),))
    [_, message, _] = request_messages(user_message("a"), broken, result("a", TextPart("x")))
    assert message["tool_calls"][0]["function"]["arguments"] == '{"malformed_arguments": "{\\"path\\": "}'


@pytest.mark.parametrize(
    ("written", "name"),
    [("mcp_Read-1", "mcp_Read-1"), ("functions.Bash", "functions_Bash"), ("读", "_"), ("", "nameless")],
)
def test_invalid_tool_names_are_replaced(written: str, name: str):
    odd = Message("assistant", (), (ToolCall("a", FunctionCall(written, "{}")),))
    [_, message, _] = request_messages(
        user_message("a"), odd, result("a", TextPart("There is no such tool."))
    )
    assert message["tool_calls"][0]["function"]["name"] == name


def test_provider_specific_fields_are_sent_back_with_their_call():
    call = ToolCall("a", FunctionCall("Read", "{}"), extras={"extra_content": {"sig": "s"}})
    [_, message, _] = request_messages(
        user_message("a"), Message("assistant", (), (call,)), result("a", TextPart("x"))
    )
    assert message["tool_calls"][0]["extra_content"] == {"sig": "s"}


def test_the_dialect_depends_on_the_host():
    assert openai_dialect("https://api.openai.com/v1", "gpt-5") is OPENAI
    assert openai_dialect("https://api.deepseek.com", "chat") is DEEPSEEK
    assert openai_dialect("http://localhost:11434/v1", "qwen3") is COMPATIBLE


def test_several_text_blocks_of_a_prompt_are_separate_lines():
    (encoded,) = request_messages(user_message((TextPart("go"), TextPart("two"))))
    assert encoded["content"] == "go\ntwo"
