"""The scripted model: plays scripts from a file, for tests, screenshots and reproductions."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import assert_never

from kimi_tui.base.content import is_system_note
from kimi_tui.base.errors import ScriptError
from kimi_tui.base.message import Message
from kimi_tui.llm.fragments import every, fragments
from kimi_tui.llm.provider import ProviderSettings, StreamPart, ThinkingEffort, ToolSchema
from kimi_tui.llm.script import (
    Action,
    Address,
    Chunk,
    Delay,
    Emit,
    Fail,
    addressee,
    parse_script,
    read_scripts,
)

_SCRIPTS_VARIABLE = "KIMI_SCRIPTED_ECHO_SCRIPTS"
_PIECES_PER_SECOND = 60


class ScriptedProvider:
    """Plays one script a model call, in order, whoever calls; those with a `for` line as they fit the caller.

    The scripts are those of `settings.scripts`, else of the file that `KIMI_SCRIPTED_ECHO_SCRIPTS` names;
    they are read at the first call. Calls raise ScriptError for a file that can't be used, a malformed script
    and one too few, and whatever error a script plays.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        self._model_name = settings.model
        self._reel = _Reel(settings.scripts)

    @property
    def model_name(self) -> str:
        """The name that the settings gave it."""
        return self._model_name

    def with_thinking(self, effort: ThinkingEffort) -> "ScriptedProvider":
        """The same provider, at the same place of the same scripts: they say what it thinks."""
        return self

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        """Nothing needs loading."""

    async def aclose(self) -> None:
        """Nothing is open."""

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        """Play the next script."""
        rate = 0.0
        for action in self._reel.next_script(history):
            match action:
                case Emit(part=part):
                    async for piece in _streamed(part, rate):
                        yield piece
                case Delay(seconds=seconds):
                    await asyncio.sleep(seconds)
                case Chunk():
                    rate = action.rate
                case Fail(error=error):
                    raise error
                case Address():
                    pass
                case _:
                    assert_never(action)


async def _streamed(part: StreamPart, rate: float) -> AsyncGenerator[StreamPart, None]:
    if not rate:
        yield part
        return
    size = max(1, round(rate / _PIECES_PER_SECOND))
    for piece in fragments(part, every(size)):
        yield piece
        await asyncio.sleep(size / rate)


class _Reel:
    """The scripts and how far they have been played; several conversations may draw from it."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._left: dict[int, tuple[str | None, str]] | None = None
        """The scripts that have not been played, by number, with whom each is kept for."""
        self._count = 0

    def next_script(self, history: Sequence[Message]) -> tuple[Action, ...]:
        path = self._path or os.environ.get(_SCRIPTS_VARIABLE)
        if not path:
            raise ScriptError(
                "The scripted model has no scripts.",
                hint=f"Set the provider's `scripts`, or {_SCRIPTS_VARIABLE}, to a file of scripts.",
            )
        if self._left is None:
            scripts = read_scripts(Path(path).expanduser())
            self._left = {number: (addressee(text), text) for number, text in enumerate(scripts, 1)}
            self._count = len(scripts)
        number = _fitting(self._left, _latest_words(history))
        if number is None:
            raise ScriptError(
                f"The scripted model has no script {self._count - len(self._left) + 1}: "
                f"{path} holds {self._count}.",
                hint="Add one: each model call plays one script.",
            )
        return parse_script(self._left.pop(number)[1], number)


def _fitting(scripts: Mapping[int, tuple[str | None, str]], words: str) -> int | None:
    """The first script that is kept for who said `words`, else the first that is kept for nobody."""
    kept = (number for number, (address, _) in scripts.items() if address is not None and address in words)
    free = (number for number, (address, _) in scripts.items() if address is None)
    return next(kept, None) or next(free, None)


def _latest_words(history: Sequence[Message]) -> str:
    said = (it for it in reversed(history) if it.role == "user" and not is_system_note(it.content))
    return next((message.text for message in said), "")
