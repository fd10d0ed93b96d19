import pytest

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.llm.kimi import kimi_thinking
from tests.llm.conversations import HELLO, READ_FILE, ask, provider_for, results
from tests.llm.servers import Answer, Call, OpenAIServer, assert_prefix_extension, assert_valid_request


async def body_of(history, *, effort=None, **settings):
    async with OpenAIServer([Answer(text="a")]) as server:
        provider = provider_for("kimi", server.base_url, **settings)
        await ask(provider if effort is None else provider.with_thinking(effort), history)
        await provider.aclose()
    return server.bodies[0]


async def test_thinking_goes_back_with_the_calls_it_led_to():
    script = [
        Answer(thinking="I must look.", tool_calls=(Call("ReadFile", {"path": "a"}),)),
        Answer(text="ok"),
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


async def test_a_call_without_a_thought_gets_one_unless_thinking_is_off():
    call = ToolCall("c", FunctionCall("ReadFile", "{}"))
    history = (
        *HELLO,
        Message("assistant", (), (call,)),
        Message("tool", (TextPart("x"),), tool_call_id="c"),
    )
    for effort, has_thought in ((None, True), ("high", True), ("off", False)):
        sent = (await body_of(history, effort=effort))["messages"][2]
        assert bool(sent.get("reasoning_content")) is has_thought


async def test_the_cache_is_keyed_by_session_and_the_output_has_a_limit():
    body = await body_of(HELLO, session_id="session-1")
    assert body["prompt_cache_key"] == "session-1"
    assert body["max_tokens"] == 32_000
    assert (await body_of(HELLO, max_output_tokens=500))["max_tokens"] == 500


async def test_an_answer_that_only_thought_is_not_sent_back():
    history = (*HELLO, Message("assistant", (ThinkPart("Hm."),)), user_message("well?"))
    body = await body_of(history)
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
def test_each_generation_is_told_in_its_own_way_how_much_to_think(model, effort, fields):
    assert kimi_thinking(model, effort, frozenset()) == fields


def test_a_model_that_always_thinks_is_never_told_not_to():
    fields = kimi_thinking("my-kimi", "off", frozenset({"always_thinking"}))
    assert fields == {"thinking": {"type": "enabled"}}


async def test_without_a_word_on_thinking_the_model_s_default_holds():
    assert "thinking" not in await body_of(HELLO, model="kimi-k2.6")
