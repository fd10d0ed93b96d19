"""Parser of slash commands."""

from kimi_tui.base.frozen import frozen

LOGIN_NAMES = ("login", "setup", "connect")
"""Names of the command after which users may type an API key, although it is entered in its own field."""


@frozen
class ParsedCommand:
    """A command name and its argument."""

    name: str
    argument: str = ""

    def history_entry(self, text: str) -> str:
        """Return the entry in the input history for the command typed as `text`, without an API key."""
        return f"/{LOGIN_NAMES[0]}" if self.name in LOGIN_NAMES else text


def parse_command(text: str) -> ParsedCommand | None:
    """Return `text` as a command; None if it isn't one, such as a path that begins with a slash."""
    if not text.startswith("/") or "\n" in text:
        return None
    name, _, argument = text[1:].partition(" ")
    if not name or "/" in name:
        return None
    return ParsedCommand(name, argument.strip())
