"""Parser of slash commands."""

from kimi_tui.base.frozen import frozen

LOGIN_NAMES = ("login", "setup", "connect")
"""Names of the command that connects a model. Users may type an API key after it by mistake."""


@frozen
class ParsedCommand:
    """A command name and its argument."""

    name: str
    argument: str = ""

    def history_entry(self, text: str) -> str:
        """Return the entry in the input history for the command typed as `text`, without an API key."""
        return f"/{LOGIN_NAMES[0]}" if self.name in LOGIN_NAMES else text


def parse_command(text: str) -> ParsedCommand | None:
    """Parse `text`. Return None if it isn't a command, for example if it is an absolute path."""
    if not text.startswith("/") or "\n" in text:
        return None
    name, _, argument = text[1:].partition(" ")
    if not name or "/" in name:
        return None
    return ParsedCommand(name, argument.strip())
