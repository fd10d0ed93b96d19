"""Scripted model: plays responses from a file, for tests, screenshots and bug reproductions."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import assert_never

from kimi_tui.base.content_parts import is_system_note
from kimi_tui.base.errors import ScriptError
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.llm.provider import ProviderSettings, StreamPart, ThinkingEffort, ToolSchema
from kimi_tui.llm.scripted.chunking import fixed_chunks, split_into_chunks
from kimi_tui.llm.scripted.script import (
    Action,
    Delay,
    Emit,
    Fail,
    Recipient,
    StreamRate,
    is_title_script,
    parse_recipient,
    parse_script,
    read_scripts,
)
from kimi_tui.llm.title_request import is_title_request

_SCRIPTS_VARIABLE = "KIMI_SCRIPTED_ECHO_SCRIPTS"
_PIECES_PER_SECOND = 60


class ScriptedProvider:
    """Plays one script per model call, in order.

    A script with a `for` line is only for matching conversations. A script with a `title` line is only for
    requests for a title. The file with the scripts is `settings.scripts`, or the value of
    `KIMI_SCRIPTED_ECHO_SCRIPTS`. The first call reads the file.

    Calls raise ScriptError if the file can't be read, the script is malformed or no script is left. They also
    raise the errors in the scripts.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        self._model_name = settings.model
        self._player = _ScriptPlayer(settings.scripts)

    @property
    def model_name(self) -> str:
        """The name in the settings."""
        return self._model_name

    def with_thinking(self, effort: ThinkingEffort) -> "ScriptedProvider":
        """Return this provider: the scripts define the thinking."""
        return self

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        """Do nothing: nothing needs loading."""

    async def aclose(self) -> None:
        """Do nothing: no connections are open."""

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        """Play the next script."""
        rate = 0.0
        script = (
            self._player.title_script()
            if is_title_request(system_prompt)
            else self._player.next_script(history)
        )
        for action in script:
            match action:
                case Emit(part=part):
                    async for piece in _stream_part(part, rate):
                        yield piece
                case Delay(seconds=seconds):
                    await asyncio.sleep(seconds)
                case StreamRate():
                    rate = action.rate
                case Fail(error=error):
                    raise error
                case Recipient():
                    pass
                case _:
                    assert_never(action)


async def _stream_part(part: StreamPart, rate: float) -> AsyncGenerator[StreamPart, None]:
    if not rate:
        yield part
        return
    size = max(1, round(rate / _PIECES_PER_SECOND))
    for piece in split_into_chunks(part, fixed_chunks(size)):
        yield piece
        await asyncio.sleep(size / rate)


class _ScriptPlayer:
    """The scripts that remain. Several conversations can share a player."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._remaining: dict[int, tuple[str | None, str]] | None = None
        """Scripts that haven't been played, by number, each with its recipient."""
        self._count = 0
        self._title_scripts: list[str] = []

    def title_script(self) -> tuple[Action, ...]:
        """Return the next script for a title. Raises ScriptError if no such script is left."""
        self._read()
        if not self._title_scripts:
            raise ScriptError("The scripted model has no title.", hint="Add a script with a `title` line.")
        return parse_script(self._title_scripts.pop(0), self._count)

    def next_script(self, history: Sequence[Message]) -> tuple[Action, ...]:
        """Return the next script for a conversation. Raises ScriptError."""
        path, remaining = self._read()
        number = _find_script(remaining, _latest_user_text(history))
        if number is None:
            raise ScriptError(
                msg(
                    "The scripted model has no script {number}: {path} contains {count}.",
                    number=self._count - len(remaining) + 1,
                    path=path,
                    count=self._count,
                ),
                hint="Add a script: each model call uses one.",
            )
        return parse_script(remaining.pop(number)[1], number)

    def _read(self) -> tuple[str, dict[int, tuple[str | None, str]]]:
        """Return the path and the remaining scripts of conversations. Raises ScriptError."""
        path = self._path or os.environ.get(_SCRIPTS_VARIABLE)
        if not path:
            raise ScriptError(
                "The scripted model has no scripts.",
                hint=msg(
                    "Set the provider's `scripts`, or {variable}, to a script file.",
                    variable=_SCRIPTS_VARIABLE,
                ),
            )
        if self._remaining is None:
            scripts = read_scripts(Path(path).expanduser())
            self._title_scripts = [text for text in scripts if is_title_script(text)]
            scripts = tuple(text for text in scripts if not is_title_script(text))
            self._remaining = {
                number: (parse_recipient(text), text) for number, text in enumerate(scripts, 1)
            }
            self._count = len(scripts)
        return path, self._remaining


def _find_script(scripts: Mapping[int, tuple[str | None, str]], user_text: str) -> int | None:
    """Return the number of the first script with a recipient in `user_text`.

    If none matches, return the number of the first script without a recipient. If none is left, return None.
    """
    addressed = (
        number
        for number, (recipient, _) in scripts.items()
        if recipient is not None and recipient in user_text
    )
    unaddressed = (number for number, (recipient, _) in scripts.items() if recipient is None)
    return next(addressed, None) or next(unaddressed, None)


def _latest_user_text(history: Sequence[Message]) -> str:
    prompts = (it for it in reversed(history) if it.role == "user" and not is_system_note(it.content))
    return next((message.text for message in prompts), "")
