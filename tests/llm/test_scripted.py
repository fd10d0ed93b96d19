import json
from pathlib import Path

import pytest

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.errors import (
    APIConnectionError,
    APIEmptyResponseError,
    APIStatusError,
    APITimeoutError,
    ChatProviderError,
    ContextTooLong,
    ScriptError,
)
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart, user_message
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.provider import MessageStart, ProviderSettings, StreamPart
from kimi_tui.llm.scripted.provider import ScriptedProvider


def provider_of(folder: Path, *scripts: str) -> ScriptedProvider:
    path = folder / "scripts.json"
    path.write_text(json.dumps(scripts), "utf-8")
    return provider_for(path)


def provider_for(path: Path) -> ScriptedProvider:
    return ScriptedProvider(ProviderSettings(kind="scripted", model="rehearsed", scripts=str(path)))


async def play(provider: ScriptedProvider) -> list[StreamPart]:
    return [part async for part in provider.generate("system", (), ())]


async def error_of(provider: ScriptedProvider) -> tuple[list[StreamPart], ChatProviderError]:
    parts: list[StreamPart] = []
    try:
        async for part in provider.generate("system", (), ()):
            parts.append(part)
    except ChatProviderError as error:
        return parts, error
    pytest.fail("the call did not fail")


async def test_each_kind_of_line_plays_its_part(tmp_path: Path) -> None:
    script = "\n".join(
        [
            "id: answer-1",
            "think: What is asked?",
            "text: Let me look.",
            'image_url: {"url": "https://example.org/a.png", "id": "a"}',
            "image_url: https://example.org/b.png",
            'tool_call: {"id": "c1", "name": "ReadFile", "arguments": "{\\"path\\": \\"a.py\\"}"}',
            'tool_call: {"id": "c2", "name": "Bash"}',
            'tool_call_part: {"arguments_part": "{\\"command\\":"}',
            'tool_call_part: " \\"ls\\"}"',
            'usage: {"input_other": 12, "output": 3, "input_cache_read": 4}',
        ]
    )
    assert await play(provider_of(tmp_path, script)) == [
        MessageStart("answer-1"),
        ThinkPart("What is asked?"),
        TextPart("Let me look."),
        ImageURLPart(MediaURL("https://example.org/a.png", "a")),
        ImageURLPart(MediaURL("https://example.org/b.png")),
        ToolCall("c1", FunctionCall("ReadFile", '{"path": "a.py"}')),
        ToolCall("c2", FunctionCall("Bash")),
        ToolCallPart('{"command":'),
        ToolCallPart(' "ls"}'),
        TokenUsage(input_other=12, output=3, input_cache_read=4),
    ]


async def test_tool_calls_accept_arguments_as_an_object_and_the_journal_s_nested_form(
    tmp_path: Path,
) -> None:
    script = (
        'tool_call: {"id": "c1", "name": "Think", "arguments": {"thought": "好"}}\n'
        'tool_call: {"id": "c2", "function": {"name": "LS", "arguments": "{}"}, "extras": {"k": 1}}'
    )
    assert await play(provider_of(tmp_path, script)) == [
        ToolCall("c1", FunctionCall("Think", '{"thought": "好"}')),
        ToolCall("c2", FunctionCall("LS", "{}"), extras={"k": 1}),
    ]


async def test_a_fragment_may_name_its_call_and_may_be_invalid_json(tmp_path: Path) -> None:
    script = 'tool_call_part: {"arguments_part": "{", "tool_call_id": "c1"}\ntool_call_part: "path": 1}'
    assert await play(provider_of(tmp_path, script)) == [
        ToolCallPart("{", "c1"),
        ToolCallPart('"path": 1}'),
    ]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("text: plain", "plain"),
        ("text: 'one'", "one"),
        ('text: " kept spaces "', " kept spaces "),
        (r'text: "two\nlines"', "two\nlines"),
        ('text: "say "hi" twice"', 'say "hi" twice'),
        (r"text: a\nb", r"a\nb"),
        ("text: see http://x: it: works", "see http://x: it: works"),
        ("TEXT:shouted", "shouted"),
    ],
)
async def test_quotes_are_stripped_and_json_strings_parsed(tmp_path: Path, line: str, text: str) -> None:
    assert await play(provider_of(tmp_path, line)) == [TextPart(text)]


async def test_blank_lines_comments_and_fences_are_skipped(tmp_path: Path) -> None:
    assert await play(provider_of(tmp_path, "```echo\n\n# a note\necho\ntext: hi\n```")) == [TextPart("hi")]


async def test_usage_may_be_written_as_pairs(tmp_path: Path) -> None:
    parts = await play(provider_of(tmp_path, "text: x\nusage: input_other=7, output=2"))
    assert parts[-1] == TokenUsage(input_other=7, output=2)


async def test_each_call_plays_one_script_also_across_copies_with_other_thinking(tmp_path: Path) -> None:
    provider = provider_of(tmp_path, "text: one", "text: two", "text: three")
    other = provider.with_thinking("high")
    texts = [await play(provider), await play(other), await play(provider)]
    assert texts == [[TextPart("one")], [TextPart("two")], [TextPart("three")]]
    assert other.model_name == "rehearsed"


async def test_concurrent_calls_each_get_their_own_script(tmp_path: Path) -> None:
    provider = provider_of(tmp_path, "text: a\ntext: b", "text: c\ntext: d")
    first, second = provider.generate("", (), ()), provider.generate("", (), ())
    mixed = [await anext(first), await anext(second), await anext(first), await anext(second)]
    assert mixed == [TextPart("a"), TextPart("c"), TextPart("b"), TextPart("d")]


async def test_a_script_with_a_for_line_is_played_only_for_matching_prompts(tmp_path: Path) -> None:
    provider = provider_of(
        tmp_path, "text: for anybody", "for: the cat\ntext: meow", 'for: "the dog"\ntext: woof'
    )

    async def answer(prompt: str) -> list[StreamPart]:
        history = (user_message("the cow"), user_message(prompt), user_message("<system>the cow</system>"))
        return [part async for part in provider.generate("system", (), history)]

    assert await answer("where is the dog?") == [TextPart("woof")]
    assert await answer("the cat") == [TextPart("meow")]
    assert await answer("the cat") == [TextPart("for anybody")]
    with pytest.raises(ScriptError, match="no script 4"):
        await answer("the dog")


async def test_a_text_file_is_split_by_lines_of_dashes(tmp_path: Path) -> None:
    path = tmp_path / "scripts.txt"
    path.write_text("---\r\ntext: a --- b\r\n---\r\n\r\ntext: two\r\n---\r\n", "utf-8")
    provider = provider_for(path)
    assert await play(provider) == [TextPart("a --- b")]
    assert await play(provider) == [TextPart("two")]
    _, error = await error_of(provider)
    assert "contains 2" in error.what


async def test_the_environment_names_the_scripts_when_the_settings_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scripts.txt"
    path.write_text("text: from the environment", "utf-8")
    provider = ScriptedProvider(ProviderSettings(kind="scripted", model="m"))
    monkeypatch.setenv("KIMI_SCRIPTED_ECHO_SCRIPTS", str(path))
    assert await play(provider) == [TextPart("from the environment")]


async def test_without_any_scripts_the_error_names_both_ways_to_set_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KIMI_SCRIPTED_ECHO_SCRIPTS", raising=False)
    _, error = await error_of(ScriptedProvider(ProviderSettings(kind="scripted", model="m")))
    assert isinstance(error, ScriptError)
    assert "scripts" in error.hint
    assert "KIMI_SCRIPTED_ECHO_SCRIPTS" in error.hint


@pytest.mark.parametrize(
    ("payload", "kind", "text"),
    [
        ("503 overloaded", APIStatusError, "overloaded"),
        ("429", APIStatusError, "429"),
        ("connection reset by peer", APIConnectionError, "reset by peer"),
        ("timeout", APITimeoutError, "timed out"),
        ("context too many tokens", ContextTooLong, "too many tokens"),
        ("empty", APIEmptyResponseError, "empty"),
    ],
)
async def test_an_error_fails_the_call_before_anything_streams(
    tmp_path: Path, payload: str, kind: type[ChatProviderError], text: str
) -> None:
    parts, error = await error_of(provider_of(tmp_path, f"text: never seen\ndelay: 0\nerror: {payload}"))
    assert parts == []
    assert type(error) is kind
    assert text in error.what


async def test_a_status_error_carries_its_status(tmp_path: Path) -> None:
    _, error = await error_of(provider_of(tmp_path, "error: 529 busy"))
    assert isinstance(error, APIStatusError)
    assert (error.status_code, error.retryable) == (529, True)


async def test_error_after_fails_once_the_parts_before_it_have_streamed(tmp_path: Path) -> None:
    provider = provider_of(
        tmp_path, "text: half an ans\nerror_after: connection lost\ntext: wer", "text: whole"
    )
    parts, error = await error_of(provider)
    assert parts == [TextPart("half an ans")]
    assert isinstance(error, APIConnectionError)
    assert await play(provider) == [TextPart("whole")]


async def test_chunk_splits_texts_and_arguments_into_fragments(tmp_path: Path) -> None:
    script = (
        "chunk: 6000\nthink: " + "t" * 250 + "\ntext: " + "x" * 250 + "\n"
        'tool_call: {"id": "c", "name": "N", "arguments": {"a": "'
        + "y" * 150
        + '"}}\nchunk: 0\ntext: whole again'
    )
    parts = await play(provider_of(tmp_path, script))
    assert [len(part.text) for part in parts if isinstance(part, TextPart)] == [100, 100, 50, 11]
    assert [len(part.think) for part in parts if isinstance(part, ThinkPart)] == [100, 100, 50]
    pieces = [part.arguments_part or "" for part in parts if isinstance(part, ToolCallPart)]
    assert json.loads("".join(pieces)) == {"a": "y" * 150}
    assert ToolCall("c", FunctionCall("N", "")) in parts


async def test_a_slow_script_streams_character_by_character(tmp_path: Path) -> None:
    parts = await play(provider_of(tmp_path, "chunk: 50\ntext: abc\ndelay: 0.001"))
    assert parts == [TextPart("a"), TextPart("b"), TextPart("c")]


@pytest.mark.parametrize(
    ("script", "line", "about"),
    [
        ("text: fine\nnonsense", 2, "no kind"),
        ("# note\n\nshout: hi", 3, "“shout”"),
        ('tool_call: {"name": "LS"}', 1, "`id`"),
        ('tool_call: {"id": "c", "name": "LS", "arguments": 3}', 1, "arguments"),
        ('tool_call: {"id": "c", "name": "LS", "extras": 3}', 1, "extras"),
        ('tool_call_part: {"arguments_part": 3}', 1, "arguments_part"),
        ("usage: output=many", 1, "whole number"),
        ("usage: outputs=3", 1, "“outputs”"),
        ("usage: lots", 1, "k=v"),
        ("image_url: 7", 1, "URL"),
        ("delay: soon", 1, "seconds"),
        ("delay: inf", 1, "seconds"),
        ("chunk: -1", 1, "characters per second"),
        ("error: 200 fine", 1, "status"),
        ("error:", 1, "status"),
    ],
)
async def test_the_error_for_a_malformed_line_names_script_and_line(
    tmp_path: Path, script: str, line: int, about: str
) -> None:
    provider = provider_of(tmp_path, "text: fine", script)
    await play(provider)
    parts, error = await error_of(provider)
    assert parts == []
    assert isinstance(error, ScriptError)
    assert error.what.startswith(f"Script 2, line {line}: ")
    assert about in error.what


async def test_a_script_without_content_is_malformed(tmp_path: Path) -> None:
    _, error = await error_of(provider_of(tmp_path, "id: x\nusage: output=1"))
    assert isinstance(error, ScriptError)
    assert "Script 1 has no content" in error.what


async def test_the_error_for_one_call_too_many_names_the_missing_script(tmp_path: Path) -> None:
    provider = provider_of(tmp_path, "text: only")
    await play(provider)
    _, error = await error_of(provider)
    assert isinstance(error, ScriptError)
    assert "no script 2" in error.what
    assert not error.retryable


@pytest.mark.parametrize("content", ['["text: a", 3]', '["text: a"', b"\xff\xfe"])
async def test_the_error_for_an_invalid_file_names_it(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "broken"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    _, error = await error_of(provider_for(path))
    assert isinstance(error, ScriptError)
    assert str(path) in error.what


async def test_the_error_for_a_missing_file_names_it(tmp_path: Path) -> None:
    _, error = await error_of(provider_for(tmp_path / "nowhere.json"))
    assert isinstance(error, ScriptError)
    assert "nowhere.json" in error.what
