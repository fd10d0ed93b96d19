"""What is typed after a prompt's name, as the arguments of the prompt."""

import shlex
from collections.abc import Sequence

from kimi_tui.base.errors import UsageError
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


def usage(command: str, wanted: Sequence[PromptArgument]) -> str:
    """How the prompt is called."""
    words = [argument.name if argument.required else f"[{argument.name}]" for argument in wanted]
    return f"Type /{' '.join([command, *words])}."


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is not closed, as in "don't"
        return text.split()
