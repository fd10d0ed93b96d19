"""Registry of slash commands."""

from collections.abc import Awaitable, Callable, Sequence

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.frozen import frozen
from kimi_tui.engine.session.info_sender import InfoSender
from kimi_tui.wire.commands import TimelineCommand
from kimi_tui.wire.events import SlashCommandInfo


@frozen
class SlashCommand:
    """Command that performs an action. `run` gets the argument, the text after the name."""

    name: str
    description: str
    run: Callable[[str], Awaitable[None]]
    aliases: tuple[str, ...] = ()
    takes_turn: bool = False
    """Whether the command runs as a turn: after queued turns, and interruptible."""
    argument: str = ""

    @property
    def info(self) -> SlashCommandInfo:
        """Command as sent to front ends."""
        return SlashCommandInfo(self.name, self.description, self.aliases, self.takes_turn, self.argument)


@frozen
class PromptCommand:
    """Command that sends a prompt to the model.

    `prompt` builds the prompt from the argument, the text after the name.
    """

    name: str
    description: str
    prompt: Callable[[str], Awaitable[UserInput]]
    aliases: tuple[str, ...] = ()
    argument: str = ""
    complete: Callable[[str], Awaitable[Sequence[str]]] | None = None
    """Returns completions for a partially typed argument."""

    @property
    def info(self) -> SlashCommandInfo:
        """Command as sent to front ends."""
        return SlashCommandInfo(
            self.name,
            self.description,
            self.aliases,
            takes_turn=True,
            argument=self.argument,
            completes=self.complete is not None,
        )


@frozen
class TimelineSlashCommand:
    """Command that stands for a timeline command of the Wire.

    `parse` builds the timeline command from the argument, or raises UsageError.
    """

    name: str
    description: str
    parse: Callable[[str], TimelineCommand]
    aliases: tuple[str, ...] = ()

    @property
    def info(self) -> SlashCommandInfo:
        """Command as sent to front ends."""
        return SlashCommandInfo(self.name, self.description, self.aliases)


AnyCommand = SlashCommand | PromptCommand | TimelineSlashCommand


class SlashRegistry:
    """Finds commands by name. Registered commands never override built-in ones."""

    def __init__(self, builtin: Sequence[AnyCommand], *, info: InfoSender | None = None) -> None:
        """`info` sends the session info after each change."""
        self._builtin = tuple(builtin)
        self._registered: dict[str, tuple[AnyCommand, ...]] = {}
        self._info = info

    @property
    def commands(self) -> tuple[AnyCommand, ...]:
        """Available commands with unique names: built-in ones first, then registered ones in order."""
        used_names: set[str] = set()
        available: list[AnyCommand] = []
        registered = (command for commands in self._registered.values() for command in commands)
        for command in (*self._builtin, *registered):
            if command.name not in used_names:
                available.append(command)
                used_names.update((command.name, *command.aliases))
        return tuple(available)

    @property
    def command_infos(self) -> tuple[SlashCommandInfo, ...]:
        """The commands as sent to front ends."""
        return tuple(command.info for command in self.commands)

    def register(self, provider: str, commands: Sequence[AnyCommand]) -> None:
        """Replace the commands of `provider`."""
        if self._registered.get(provider, ()) != (new := tuple(commands)):
            self._registered[provider] = new
            if self._info is not None:
                self._info.send_info()

    async def complete_argument(self, name: str, text: str) -> tuple[str, ...]:
        """Return completions of the argument `text` of the command `name`."""
        command = found[0] if (found := self.find(name)) is not None else None
        if not isinstance(command, PromptCommand) or command.complete is None:
            return ()
        return tuple(await command.complete(text))

    def find(self, line: str) -> tuple[AnyCommand, str] | None:
        """Return the command in `line` (without its slash) and its argument, or None."""
        name, _, argument = line.strip().partition(" ")
        for command in self.commands:
            if name == command.name or name in command.aliases:
                return command, argument.strip()
        return None
