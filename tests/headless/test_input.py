"""What is sent: the prompt, what is piped in, or both."""

import pytest

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import UsageError
from kimi_tui.headless.input import message_in, prompts
from kimi_tui.headless.options import PrintOptions

from .conftest import STEP


async def sent(run, **options):
    await run.play([STEP, TextPart("ok")], **options)
    assert run.exit_code == 0
    return run.sent


async def test_the_prompt_alone_is_sent_as_it_is(run):
    assert await sent(run, prompt="fix it") == ["fix it"]


async def test_stdin_alone_is_the_prompt(run):
    assert await sent(run, prompt="", stdin="  fix it\n世界\n".encode()) == ["fix it\n世界"]


async def test_stdin_is_added_to_the_prompt_as_context(run):
    (both,) = await sent(run, prompt="review this", stdin=b"diff --git a b\n")
    assert both == "review this\n\n<stdin>\ndiff --git a b\n</stdin>"


async def test_an_empty_stdin_adds_nothing(run):
    assert await sent(run, prompt="fix it", stdin=b"\n") == ["fix it"]


async def test_stdin_that_is_no_text_does_not_break_the_run(run):
    (text,) = await sent(run, prompt="", stdin=b"caf\xe9 ok")
    assert text == "caf\ufffd ok"


@pytest.mark.parametrize("stdin", [None, b"", b" \n"])
async def test_without_a_prompt_nothing_is_opened_and_the_usage_is_told(run, stdin):
    await run.play([], prompt="", stdin=stdin)
    assert run.exit_code == 2
    assert run.engine.commands == []
    assert run.stderr.text.startswith("There is no prompt.")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"hello", "Line 1 of the input is not JSON"),
        (b"[1]", "Line 1 of the input is no message of the user"),
        (b'{"role": "system", "content": "x"}', "Line 1 of the input is no message of the user"),
        (
            b'{"role": "user", "content": [{"type": "smell"}]}',
            "The content on line 1 of the input can't be read",
        ),
        (b'{"role": "user", "content": 3}', "The content on line 1 of the input can't be read"),
        (b'{"role": "user", "content": " "}', "The message on line 1 of the input is empty"),
        (b'{"role": "user"}', "The message on line 1 of the input is empty"),
        (b"", "The input holds no message"),
        (None, "--input-format stream-json reads messages from stdin"),
    ],
)
async def test_a_line_that_is_no_message_is_a_usage_error(run, line, told):
    await run.play([], input_format="stream-json", output_format="stream-json", stdin=line)
    assert run.exit_code == 2
    assert run.result["error"]["what"].startswith(told)
    assert len(run.stdout.objects) == 1


class Folder:
    def read(self):
        raise IsADirectoryError(21, "Is a directory")


async def test_a_stdin_that_cannot_be_read_is_told():
    with pytest.raises(UsageError, match="can't be read: Is a directory"):
        await anext(prompts(PrintOptions(prompt="x"), Folder()))


def test_a_message_may_be_wrapped_as_other_agents_clients_wrap_it():
    wrapped = b'{"type": "user", "message": {"role": "user", "content": "hello"}, "session_id": "x"}'
    assert message_in(wrapped, 1) == "hello"
