import pytest

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.llm.openai.kimi import KIMI
from tests.llm.conversations import HELLO, READ_FILE, ask, provider_for, results
from tests.llm.servers import (
    Call,
    OpenAIServer,
    ScriptedResponse,
    assert_prefix_extension,
    assert_valid_request,
)


async def request_body(history, *, effort=None, **settings):
    async with OpenAIServer([ScriptedResponse(text="a")]) as server:
        provider = provider_for("kimi", server.base_url, **settings)
        await ask(provider if effort is None else provider.with_thinking(effort), history)
        await provider.aclose()
    return server.bodies[0]


async def test_thinking_is_sent_back_with_its_calls():
    script = [
        ScriptedResponse(thinking="I must look.", tool_calls=(Call("ReadFile", {"path": "a"}),)),
        ScriptedResponse(text="ok"),
    ]
    async with OpenAIServer(script) as server:
        provider = provider_for("kimi", server.base_url).with_thinking("high")
        message = (await ask(provider, tools=[READ_FILE])).message
        await ask(provider, [*HELLO, message, *results(message, "content")], tools=[READ_FILE])
        await provider.aclose()
    sent = server.bodies[1]["messages"][2]
    assert sent["reasoning_content"] == "I must look."
    assert_valid_request(server.bodies[1])
    assert_prefix_extension(*server.bodies)


async def test_a_call_without_thinking_gets_a_placeholder_unless_thinking_is_off():
    call = ToolCall("c", FunctionCall("ReadFile", "{}"))
    history = (
        *HELLO,
        Message("assistant", (), (call,)),
        Message("tool", (TextPart("x"),), tool_call_id="c"),
    )
    for effort, has_thought in ((None, True), ("high", True), ("off", False)):
        sent = (await request_body(history, effort=effort))["messages"][2]
        assert bool(sent.get("reasoning_content")) is has_thought


async def test_the_cache_is_keyed_by_session_and_the_output_has_a_limit():
    body = await request_body(HELLO, session_id="session-1")
    assert body["prompt_cache_key"] == "session-1"
    assert body["max_tokens"] == 32_000
    assert (await request_body(HELLO, max_output_tokens=500))["max_tokens"] == 500


async def test_a_response_with_only_thinking_is_not_sent_back():
    history = (*HELLO, Message("assistant", (ThinkPart("Hm."),)), user_message("well?"))
    body = await request_body(history)
    assert [message["role"] for message in body["messages"]] == ["system", "user", "user"]


@pytest.mark.parametrize(
    ("model", "effort", "fields"),
    [
        ("kimi-k2.6", "off", {"thinking": {"type": "disabled"}}),
        ("kimi-k2.6", "high", {"thinking": {"type": "enabled"}}),
        ("kimi-k2.7-code", "off", {"thinking": {"type": "enabled"}}),
        ("kimi-k2-thinking", "off", {"thinking": {"type": "enabled"}}),
        ("kimi-k3", "off", {"reasoning_effort": "low"}),
        ("kimi-k3.1-pro", "medium", {"reasoning_effort": "high"}),
        ("kimi-k3", "high", {"reasoning_effort": "max"}),
    ],
)
def test_each_generation_gets_its_thinking_fields(model, effort, fields):
    assert KIMI.thinking_fields(model, effort, frozenset()) == fields


def test_thinking_is_not_disabled_for_a_model_that_always_thinks():
    fields = KIMI.thinking_fields("my-kimi", "off", frozenset({"always_thinking"}))
    assert fields == {"thinking": {"type": "enabled"}}


async def test_without_an_effort_the_model_s_default_applies():
    assert "thinking" not in await request_body(HELLO, model="kimi-k2.6")
