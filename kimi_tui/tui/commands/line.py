"""What was typed, read as a command."""

from kimi_tui.base.value import value


@value
class Line:
    """A command with what follows its name."""

    name: str
    argument: str


def parsed(text: str) -> Line | None:
    """`text` as a command; None when it is none, such as a path that begins with a slash."""
    if not text.startswith("/") or "\n" in text:
        return None
    name, _, argument = text[1:].partition(" ")
    if not name or "/" in name:
        return None
    return Line(name, argument.strip())
