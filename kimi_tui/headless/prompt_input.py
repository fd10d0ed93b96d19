"""Input of print mode: a prompt, piped text or a stream of messages."""

import json
from collections.abc import AsyncIterator
from typing import Any, Protocol

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.errors import UsageError
from kimi_tui.base.json_codec import from_jsonable
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.base.pipe_reader import read_in_thread
from kimi_tui.headless.options import PrintOptions

_FORMAT_HINT = 'Each line must be {"role": "user", "content": "…"}. content may also be a list of parts.'


class ByteReader(Protocol):
    """Source of input."""

    def read(self) -> bytes:
        """Return everything up to the end."""
        ...

    def readline(self) -> bytes:
        """Return a line with its newline, or an empty string at the end of the input."""
        ...


async def read_prompts(options: PrintOptions, stdin: ByteReader | None) -> AsyncIterator[UserInput]:
    """Yield the prompts to send, one for each turn. `stdin` is None if it is a terminal.

    Raises UsageError if there is no prompt, or a line is invalid.
    """
    try:
        if options.input_format == "text":
            yield (
                await _goal_prompt(options, stdin)
                if options.goal
                else await _text_prompt(options.prompt, stdin)
            )
        elif stdin is None:
            raise UsageError(
                "--input-format stream-json requires piped input, but standard input is a terminal.",
                hint="Pipe in messages, or choose a file with --input.",
            )
        else:
            async for message in _read_messages(stdin):
                yield message
    except OSError as error:
        raise UsageError(
            msg("Can't read the input: {reason}.", reason=error.strerror or error),
            hint="Pipe in text, or choose a file with --input.",
        ) from error


async def _goal_prompt(options: PrintOptions, stdin: ByteReader | None) -> str:
    """Return the command that works on the prompt until the goal is reached."""
    task = await _text_prompt(options.prompt, stdin)
    return f"/goal {options.goal.strip()}\n\n{task}"


async def _text_prompt(prompt: str, stdin: ByteReader | None) -> str:
    piped = "" if stdin is None else (await read_in_thread(stdin.read)).decode("utf-8", "replace")
    if not piped.strip():
        if not prompt.strip():
            raise UsageError(
                "No prompt given.",
                hint='Use -p "…", or pipe it in: echo "…" | kimi-tui --print.',
            )
        return prompt
    if not prompt.strip():
        return piped.strip()
    return f"{prompt}\n\n<stdin>\n{piped.rstrip()}\n</stdin>"


async def _read_messages(stdin: ByteReader) -> AsyncIterator[UserInput]:
    number = 0
    while line := await read_in_thread(stdin.readline):
        number += 1
        if line.strip():
            yield parse_prompt_line(line, number)
    if not number:
        raise UsageError("The input contains no messages.", hint=_FORMAT_HINT)


def parse_prompt_line(line: bytes, number: int) -> UserInput:
    """Return the message on a line of a stream. `number` is the line number for errors. Raises UsageError."""
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(
            msg("Line {line} of the input isn't valid JSON.", line=number), hint=_FORMAT_HINT
        ) from None
    if isinstance(data, dict) and data.get("type") == "user" and isinstance(data.get("message"), dict):
        data = data["message"]  # the format of Claude Code's clients
    if not isinstance(data, dict) or data.get("role") != "user":
        raise UsageError(
            msg("Line {line} of the input isn't a user message.", line=number), hint=_FORMAT_HINT
        )
    content = data.get("content")
    try:
        parts = from_jsonable(Message, {"role": "user", "content": content}).content
    except ValueError:
        raise UsageError(
            msg("Line {line} of the input has invalid content.", line=number), hint=_FORMAT_HINT
        ) from None
    if not parts or (isinstance(content, str) and not content.strip()):
        raise UsageError(
            msg("The message on line {line} of the input is empty.", line=number), hint=_FORMAT_HINT
        )
    return content if isinstance(content, str) else parts
