"""Input of print mode: the prompt, piped text, or both."""

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import UsageError
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.prompt_input import parse_prompt_line, read_prompts

from .conftest import STEP


async def run_and_get_prompts(run, **options):
    await run.play([STEP, TextPart("ok")], **options)
    assert run.exit_code == 0
    return run.sent


async def test_a_prompt_is_sent_unchanged(run):
    assert await run_and_get_prompts(run, prompt="fix it") == ["fix it"]


async def test_stdin_without_a_prompt_is_the_prompt(run):
    assert await run_and_get_prompts(run, prompt="", stdin="  fix it\n世界\n".encode()) == ["fix it\n世界"]


async def test_stdin_is_added_to_the_prompt_as_context(run):
    (both,) = await run_and_get_prompts(run, prompt="review this", stdin=b"diff --git a b\n")
    assert both == "review this\n\n<stdin>\ndiff --git a b\n</stdin>"


async def test_an_empty_stdin_adds_nothing(run):
    assert await run_and_get_prompts(run, prompt="fix it", stdin=b"\n") == ["fix it"]


async def test_invalid_utf8_in_stdin_is_replaced(run):
    (text,) = await run_and_get_prompts(run, prompt="", stdin=b"caf\xe9 ok")
    assert text == "caf\ufffd ok"


@pytest.mark.parametrize("stdin", [None, b"", b" \n"])
async def test_without_a_prompt_no_session_is_opened(run, stdin):
    await run.play([], prompt="", stdin=stdin)
    assert run.exit_code == 2
    assert run.engine.commands == []
    assert run.stderr.text.startswith("No prompt given.")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"hello", "Line 1 of the input isn't valid JSON"),
        (b"[1]", "Line 1 of the input isn't a user message"),
        (b'{"role": "system", "content": "x"}', "Line 1 of the input isn't a user message"),
        (
            b'{"role": "user", "content": [{"type": "smell"}]}',
            "Line 1 of the input has invalid content",
        ),
        (b'{"role": "user", "content": 3}', "Line 1 of the input has invalid content"),
        (b'{"role": "user", "content": " "}', "The message on line 1 of the input is empty"),
        (b'{"role": "user"}', "The message on line 1 of the input is empty"),
        (b"", "The input contains no messages"),
        (None, "--input-format stream-json requires piped input"),
    ],
)
async def test_an_invalid_line_is_a_usage_error(run, line, message):
    await run.play([], input_format="stream-json", output_format="stream-json", stdin=line)
    assert run.exit_code == 2
    assert run.result["error"]["what"].startswith(message)
    assert len(run.stdout.objects) == 1


class Directory:
    def read(self):
        raise IsADirectoryError(21, "Is a directory")


async def test_an_unreadable_stdin_is_reported():
    with pytest.raises(UsageError, match="Can't read the input: Is a directory"):
        await anext(read_prompts(PrintOptions(prompt="x"), Directory()))


def test_messages_in_the_format_of_claude_code_are_accepted():
    wrapped = b'{"type": "user", "message": {"role": "user", "content": "hello"}, "session_id": "x"}'
    assert parse_prompt_line(wrapped, 1) == "hello"
