"""What is typed after a prompt's name, as the arguments of the prompt."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from kimi_tui.base.errors import UsageError
from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.mcp.offer import PromptArgument


def prompt_arguments(text: str, wanted: Sequence[PromptArgument], *, command: str) -> dict[str, str]:
    """The arguments in `text`: `name=value` words, and others in the order of the prompt's arguments.

    The last one takes all that is left. Raises UsageError for one that is missing or too many.
    """
    known = [argument.name for argument in wanted]
    given: dict[str, str] = {}
    rest: list[str] = []
    for word in _words(text):
        name, separator, value = word.partition("=")
        if separator and name in known and not rest:
            given[name] = value
        else:
            rest.append(word)
    open_names = [name for name in known if name not in given]
    if rest and not open_names:
        raise UsageError(f"/{command} takes no more words.", hint=usage(command, wanted))
    for index, name in enumerate(open_names[: len(rest)]):
        is_last = index == len(open_names) - 1
        given[name] = " ".join(rest[index:]) if is_last else rest[index]
    missing = [argument.name for argument in wanted if argument.required and argument.name not in given]
    if missing:
        raise UsageError(f"/{command} wants to know {', '.join(missing)}.", hint=usage(command, wanted))
    return given


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """The argument at the end of what is typed, which is still to be completed."""

    name: str
    text: str
    """What there is of it."""
    given: dict[str, str]
    """Those before it."""
    before: str
    """What stands before it in the line, and stays."""
    takes_the_rest: bool
    """Whether white space needs no quotes in it."""

    def completed(self, value: str) -> str:
        """The line with `value` at its end, on one line and free of what drives a terminal."""
        shown = plain_line(value)
        return self.before + (shown if self.takes_the_rest else shlex.quote(shown))


def unfinished(text: str, wanted: Sequence[PromptArgument]) -> Unfinished | None:
    """The argument that is being typed at the end of `text`; None when there is no more to say."""
    known = [argument.name for argument in wanted]
    words = text.split(" ")
    word = words[-1]
    name, separator, value = word.partition("=")
    given = _given(_words(" ".join(words[:-1])), known)
    open_names = [each for each in known if each not in given]
    if separator and name in open_names:
        before = text[: len(text) - len(value)]
        return Unfinished(name=name, text=value, given=given, before=before, takes_the_rest=False)
    if not open_names:
        return None
    before = text[: len(text) - len(word)]
    is_last = len(open_names) == 1
    return Unfinished(name=open_names[0], text=word, given=given, before=before, takes_the_rest=is_last)


def _given(words: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        name, separator, value = word.partition("=")
        if separator and name in known:
            given[name] = value
        elif free := [each for each in known if each not in given]:
            given[free[0]] = word
    return given


def usage(command: str, wanted: Sequence[PromptArgument]) -> str:
    """How the prompt is called."""
    words = [argument.name if argument.required else f"[{argument.name}]" for argument in wanted]
    return f"Type /{' '.join([command, *words])}."


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is not closed, as in "don't"
        return text.split()
