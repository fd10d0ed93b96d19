"""Parser of slash commands."""

from kimi_tui.base.frozen import frozen


@frozen
class ParsedCommand:
    """A command name and its argument."""

    name: str
    argument: str


def parse_command(text: str) -> ParsedCommand | None:
    """Return `text` as a command; None if it isn't one, such as a path that begins with a slash."""
    if not text.startswith("/") or "\n" in text:
        return None
    name, _, argument = text[1:].partition(" ")
    if not name or "/" in name:
        return None
    return ParsedCommand(name, argument.strip())
