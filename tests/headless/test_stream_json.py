"""Stream JSON output: kimi-cli's messages between an init line and a result."""

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.wire.events import StepBegin, StepInterrupted, StepRetry, ToolOutput, TurnEnd, TurnFailure

from .conftest import STEP, call, result


async def play(run, *turns, **options):
    await run.play(*turns, output_format="stream-json", **options)
    first, *messages, last = run.stdout.objects
    assert (first["type"], last["type"]) == ("init", "result")
    assert not [message for message in messages if "type" in message]
    return messages


async def test_the_init_line_names_the_session_and_the_model(run):
    await play(run, [STEP, TextPart("x")])
    init = run.stdout.objects[0]
    assert (init["session_id"], init["model"], init["version"]) == ("s-1", "kimi", "1.2")


async def test_messages_have_the_format_of_kimi_cli(run):
    messages = await play(
        run,
        [
            STEP,
            TextPart("Let me "),
            TextPart("look."),
            ToolCall("1", FunctionCall("Bash", "")),
            ToolCallPart('{"command"'),
            ToolCall("2", FunctionCall("LS", "{}")),
            ToolCallPart(': "ls"}', "1"),
            ToolOutput("1", "a"),
            result("2", "b", message="2 files."),
            result("1", "a", is_error=True, message="Failed."),
            StepBegin(2),
            TextPart("Done."),
        ],
    )
    assert messages == [
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {
                    "type": "function",
                    "id": "1",
                    "function": {"name": "Bash", "arguments": '{"command": "ls"}'},
                },
                {"type": "function", "id": "2", "function": {"name": "LS", "arguments": "{}"}},
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "2",
            "content": [
                {"type": "text", "text": "<system>2 files.</system>"},
                {"type": "text", "text": "b"},
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "1",
            "content": [
                {"type": "text", "text": "<system>ERROR: Failed.</system>"},
                {"type": "text", "text": "a"},
            ],
        },
        {"role": "assistant", "content": "Done."},
    ]


async def test_thinking_and_images_make_the_content_a_list(run):
    image = ImageURLPart(MediaURL("data:image/png;base64,AA=="))
    messages = await play(run, [STEP, ThinkPart("hm"), TextPart("See:"), image])
    assert [part["type"] for part in messages[0]["content"]] == ["think", "text", "image_url"]


async def test_a_failed_attempt_is_never_written(run):
    retry = StepRetry(1, 2, 3, 0.5, "APIStatusError", 503)
    messages = await play(run, [STEP, TextPart("Half"), call("1"), retry, TextPart("Whole.")])
    assert messages == [{"role": "assistant", "content": "Whole."}]


async def test_calls_of_an_incomplete_response_are_omitted(run):
    failure = TurnFailure("No connection.", "Try later.", "APIConnectionError", None, True)
    messages = await play(
        run, [STEP, TextPart("Half"), call("1"), StepInterrupted(), TurnEnd("failed", 1, failure)]
    )
    assert messages == [{"role": "assistant", "content": "Half"}]
    assert run.exit_code == 75


async def test_final_only_writes_the_last_message(run):
    turn = [STEP, TextPart("First."), call("1"), result("1"), StepBegin(2), TextPart("Last.")]
    assert await play(run, turn, final_only=True) == [{"role": "assistant", "content": "Last."}]


async def test_special_characters_are_escaped(run):
    text = "a\u2028b\x9b31m\x1b[31m\u202e世界"
    messages = await play(run, [STEP, TextPart(text)])
    assert messages == [{"role": "assistant", "content": text}]
    raw = run.stdout.text
    assert not set(raw) & set("\u2028\x9b\x1b\u202e")
    assert "世界" in raw


async def test_each_input_message_is_a_turn(run):
    image = '{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}'
    lines = (
        '{"role": "user", "content": "one"}\n\n'
        f'{{"role": "user", "content": [{{"type": "text", "text": "two"}}, {image}]}}'
    )
    messages = await play(
        run,
        [STEP, TextPart("1")],
        [STEP, TextPart("2")],
        input_format="stream-json",
        stdin=lines.encode(),
    )
    assert [message["content"] for message in messages] == ["1", "2"]
    assert run.sent == ["one", (TextPart("two"), ImageURLPart(MediaURL("data:image/png;base64,AA==")))]
    assert run.result["turns"] == 2


async def test_a_bad_line_ends_the_run_after_the_turns_before_it(run):
    lines = b'{"role": "user", "content": "one"}\n{"role": "assistant", "content": "x"}\n'
    await play(run, [STEP, TextPart("1")], input_format="stream-json", stdin=lines)
    assert run.exit_code == 2
    assert run.result["outcome"] == "failed"
    assert "Line 2" in run.result["error"]["what"]
    assert run.result["turns"] == 1


async def test_a_failed_turn_ends_the_run(run):
    lines = b'{"role": "user", "content": "one"}\n{"role": "user", "content": "two"}\n'
    failed = TurnEnd("failed", 1, TurnFailure("Wrong key.", "Check it.", "APIStatusError", 401))
    await play(run, [STEP, failed], [STEP], input_format="stream-json", stdin=lines)
    assert run.sent == ["one"]
    assert run.exit_code == 1
