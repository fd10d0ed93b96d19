"""Parsing and completion of the arguments typed after a prompt's name."""

import shlex
from collections.abc import Sequence

from kimi_tui.base.errors import UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.mcp.server_features import PromptArgument


def parse_prompt_arguments(text: str, arguments: Sequence[PromptArgument], *, command: str) -> dict[str, str]:
    """Parse `text`: `name=value` words, and other words in the order of the prompt's arguments.

    The last argument takes all remaining words. Raises UsageError for missing or excess arguments.
    """
    known = [argument.name for argument in arguments]
    given: dict[str, str] = {}
    rest: list[str] = []
    for word in _split_words(text):
        name, separator, value = word.partition("=")
        if separator and name in known and not rest:
            given[name] = value
        else:
            rest.append(word)
    open_names = [name for name in known if name not in given]
    if rest and not open_names:
        raise UsageError(
            msg("Too many arguments for /{name}.", name=command), hint=format_usage(command, arguments)
        )
    for index, name in enumerate(open_names[: len(rest)]):
        is_last = index == len(open_names) - 1
        given[name] = " ".join(rest[index:]) if is_last else rest[index]
    missing = [argument.name for argument in arguments if argument.required and argument.name not in given]
    if missing:
        raise UsageError(
            msg("Missing arguments for /{name}: {missing}.", name=command, missing=", ".join(missing)),
            hint=format_usage(command, arguments),
        )
    return given


@frozen(kw_only=True)
class PartialArgument:
    """The argument being typed at the end of the input."""

    name: str
    text: str
    """The part of the value typed so far."""
    known: dict[str, str]
    """The arguments before this one."""
    prefix: str
    """The text before the value, which stays unchanged."""
    is_last: bool
    """Whether this is the last missing argument. Then its value may contain unquoted spaces."""

    def complete(self, value: str) -> str:
        """Return the input with `value` at its end, on one line and without control characters."""
        text = sanitize_line(value)
        return self.prefix + (text if self.is_last else shlex.quote(text))


def find_partial_argument(text: str, arguments: Sequence[PromptArgument]) -> PartialArgument | None:
    """Return the argument being typed at the end of `text`; None if all arguments are given."""
    known = [argument.name for argument in arguments]
    words = text.split(" ")
    word = words[-1]
    name, separator, value = word.partition("=")
    given = _assign_words(_split_words(" ".join(words[:-1])), known)
    open_names = [each for each in known if each not in given]
    if separator and name in open_names:
        prefix = text[: len(text) - len(value)]
        return PartialArgument(name=name, text=value, known=given, prefix=prefix, is_last=False)
    if not open_names:
        return None
    prefix = text[: len(text) - len(word)]
    is_last = len(open_names) == 1
    return PartialArgument(name=open_names[0], text=word, known=given, prefix=prefix, is_last=is_last)


def _assign_words(words: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        name, separator, value = word.partition("=")
        if separator and name in known:
            given[name] = value
        elif open_names := [each for each in known if each not in given]:
            given[open_names[0]] = word
    return given


def format_usage(command: str, arguments: Sequence[PromptArgument]) -> str:
    """Return a sentence that shows how to call the prompt."""
    words = [argument.name if argument.required else f"[{argument.name}]" for argument in arguments]
    return f"Type /{' '.join([command, *words])}."


def _split_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an unclosed quote, as in "don't"
        return text.split()
