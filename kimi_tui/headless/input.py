"""What print mode sends: a prompt, what is piped in, or a stream of messages."""

import json
from collections.abc import AsyncIterator
from typing import Any, Protocol

from kimi_tui.base.content import UserInput
from kimi_tui.base.encoding import from_jsonable
from kimi_tui.base.errors import UsageError
from kimi_tui.base.message import Message
from kimi_tui.base.threaded_read import read_in_thread
from kimi_tui.headless.options import PrintOptions

_SHAPE = 'Each line should be {"role": "user", "content": "…"}; content may be a list of parts too.'


class ByteReader(Protocol):
    """Where input comes from."""

    def read(self) -> bytes:
        """Everything up to the end."""
        ...

    def readline(self) -> bytes:
        """A line with its end; empty at the end of the input."""
        ...


async def prompts(options: PrintOptions, stdin: ByteReader | None) -> AsyncIterator[UserInput]:
    """What to send, one turn each. `stdin` is None when it is a terminal.

    Raises UsageError when there is nothing to send, or a line that is no message.
    """
    try:
        if options.input_format == "text":
            yield await _text_prompt(options.prompt, stdin)
        elif stdin is None:
            raise UsageError(
                "--input-format stream-json reads messages from stdin, which is a terminal.",
                hint="Pipe them in, or name a file with --input.",
            )
        else:
            async for message in _messages(stdin):
                yield message
    except OSError as error:
        raise UsageError(
            f"The input can't be read: {error.strerror or error}.",
            hint="Pipe in text, or name a file with --input.",
        ) from error


async def _text_prompt(prompt: str, stdin: ByteReader | None) -> str:
    piped = "" if stdin is None else (await read_in_thread(stdin.read)).decode("utf-8", "replace")
    if not piped.strip():
        if not prompt.strip():
            raise UsageError(
                "There is no prompt.",
                hint='Give one with -p "…", or pipe it in: echo "…" | kimi-tui --print.',
            )
        return prompt
    if not prompt.strip():
        return piped.strip()
    return f"{prompt}\n\n<stdin>\n{piped.rstrip()}\n</stdin>"


async def _messages(stdin: ByteReader) -> AsyncIterator[UserInput]:
    number = 0
    while line := await read_in_thread(stdin.readline):
        number += 1
        if line.strip():
            yield message_in(line, number)
    if not number:
        raise UsageError("The input holds no message.", hint=_SHAPE)


def message_in(line: bytes, number: int) -> UserInput:
    """The message on a line of a stream; `number` is for what is told. Raises UsageError."""
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"Line {number} of the input is not JSON.", hint=_SHAPE) from None
    if isinstance(data, dict) and data.get("type") == "user" and isinstance(data.get("message"), dict):
        data = data["message"]  # as Claude Code's clients wrap it
    if not isinstance(data, dict) or data.get("role") != "user":
        raise UsageError(f"Line {number} of the input is no message of the user.", hint=_SHAPE)
    content = data.get("content")
    try:
        parts = from_jsonable(Message, {"role": "user", "content": content}).content
    except ValueError:
        raise UsageError(f"The content on line {number} of the input can't be read.", hint=_SHAPE) from None
    if not parts or (isinstance(content, str) and not content.strip()):
        raise UsageError(f"The message on line {number} of the input is empty.", hint=_SHAPE)
    return content if isinstance(content, str) else parts
