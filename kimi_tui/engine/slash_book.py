"""The slash commands of a session: its own, and those that other parts lend for as long as they have them."""

from collections.abc import Awaitable, Callable, Sequence

from kimi_tui.base.content import UserInput
from kimi_tui.base.value import value
from kimi_tui.wire.events import SlashCommandInfo


@value
class SlashCommand:
    """A command that does something; `run` gets what stands after the name."""

    name: str
    description: str
    run: Callable[[str], Awaitable[None]]
    aliases: tuple[str, ...] = ()
    takes_turn: bool = False
    """Whether it runs as a turn does: after those that wait already, and so that it can be interrupted."""
    argument: str = ""

    @property
    def info(self) -> SlashCommandInfo:
        """The command as front ends list it."""
        return SlashCommandInfo(self.name, self.description, self.aliases, self.takes_turn, self.argument)


@value
class PromptCommand:
    """A command that says something to the model; `prompt` makes it from what stands after the name."""

    name: str
    description: str
    prompt: Callable[[str], Awaitable[UserInput]]
    aliases: tuple[str, ...] = ()
    argument: str = ""
    complete: Callable[[str], Awaitable[Sequence[str]]] | None = None
    """What may stand in the place of what is typed so far after the name."""

    @property
    def info(self) -> SlashCommandInfo:
        """The command as front ends list it."""
        return SlashCommandInfo(
            self.name,
            self.description,
            self.aliases,
            takes_turn=True,
            argument=self.argument,
            completes=self.complete is not None,
        )


AnyCommand = SlashCommand | PromptCommand


class SlashBook:
    """Finds commands by name. What is lent never replaces the session's own commands."""

    def __init__(self, own: Sequence[AnyCommand], *, changed: Callable[[], None] = lambda: None) -> None:
        self._own = tuple(own)
        self._lent: dict[str, tuple[AnyCommand, ...]] = {}
        self._changed = changed

    @property
    def commands(self) -> tuple[AnyCommand, ...]:
        """Those that can be run, each name once: the own ones first, then in the order of lending."""
        taken: set[str] = set()
        found: list[AnyCommand] = []
        for command in (*self._own, *(it for lent in self._lent.values() for it in lent)):
            if command.name not in taken:
                found.append(command)
                taken.update((command.name, *command.aliases))
        return tuple(found)

    def lend(self, lender: str, commands: Sequence[AnyCommand]) -> None:
        """Offer `commands` in place of those that `lender` offered before."""
        if self._lent.get(lender, ()) != (lent := tuple(commands)):
            self._lent[lender] = lent
            self._changed()

    async def choices(self, name: str, text: str) -> tuple[str, ...]:
        """What may stand in the place of `text` after the command `name`."""
        command = found[0] if (found := self.find(name)) is not None else None
        if not isinstance(command, PromptCommand) or command.complete is None:
            return ()
        return tuple(await command.complete(text))

    def find(self, line: str) -> tuple[AnyCommand, str] | None:
        """The command that `line` (without its slash) names, and its argument."""
        name, _, argument = line.strip().partition(" ")
        for command in self.commands:
            if name == command.name or name in command.aliases:
                return command, argument.strip()
        return None
