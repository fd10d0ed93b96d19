"""The registry of commands: what the slash, the palette and the help know."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import retell, say
from kimi_tui.tui import fuzzy
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.commands import Command as WireCommand
from kimi_tui.wire.completion import CompleteArgument

if TYPE_CHECKING:
    from kimi_tui.tui.commands.time_travel import Timeline

Severity = Literal["information", "warning", "error"]
_MOST_RESOURCES = 20
PaneName = Literal["todo", "tools", "timeline"]


class Host(Protocol):
    """What a command may do to the screen."""

    @property
    def state(self) -> ScreenState:
        """What the screen knows of the session."""
        ...

    def command(self, command: WireCommand) -> None:
        """Give the engine a command."""
        ...

    def say(self, message: str, *, severity: Severity = "information") -> None:
        """Tell the user something that passes."""
        ...

    async def choose(self, title: str, choices: Sequence[Choice], *, hint: str = "") -> str | None:
        """Let the user choose; None when they would not."""
        ...

    def show_help(self, topic: Literal["commands", "keys"]) -> None:
        """Open the help."""
        ...

    def show_mcp(self) -> None:
        """Open the list of MCP servers."""
        ...

    async def connect_model(self) -> None:
        """Let the user connect a model."""
        ...

    async def change_settings(self) -> None:
        """Let the user look at the settings and change them."""
        ...

    def show_tasks(self) -> None:
        """Open the list of background tasks."""
        ...

    def toggle_pane(self, name: PaneName) -> None:
        """Show or hide a pane."""
        ...

    @property
    def timeline(self) -> "Timeline":
        """What can be done in time."""
        ...

    @property
    def theme_name(self) -> str:
        """The theme in use."""
        ...

    def use_theme(self, name: str) -> None:
        """Change the theme, for later runs too."""
        ...

    def use_model(self, name: str) -> None:
        """Use another model, in later runs too where the config file has it."""
        ...

    def copy(self, text: str) -> None:
        """Put `text` on the clipboard and say so."""
        ...

    @property
    def last_answer(self) -> str:
        """The Markdown source of the last answer; empty when there is none."""
        ...

    def leave(self) -> None:
        """End the app, in order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """A command; `run` gets the screen and what stands after the name."""

    name: str
    summary: str
    run: Callable[[Host, str], Awaitable[None]]
    aliases: tuple[str, ...] = ()
    argument: str = ""
    """How the argument is called in the help; in brackets when it may be left out."""
    choices: Callable[[ScreenState], Sequence[str]] | None = None
    """What the argument may be."""
    completes: bool = False
    """Whether the engine knows what the argument may be."""
    binding_id: str = ""
    """The key that does the same."""

    @property
    def told(self) -> str:
        """The summary in the user's language."""
        return say(self.summary)


class Registry:
    """Commands of the screen, and those that the engine says it has."""

    def __init__(
        self,
        commands: Sequence[SlashCommand],
        *,
        state: Callable[[], ScreenState],
        run_engine_command: Callable[[Host, str], Awaitable[None]],
        ask: Callable[[CompleteArgument], None] = lambda _: None,
    ) -> None:
        self._own = tuple(commands)
        self._state = state
        self._run_engine_command = run_engine_command
        self._ask = ask

    @property
    def all(self) -> tuple[SlashCommand, ...]:
        """Every command, by name."""
        own = {name for command in self._own for name in (command.name, *command.aliases)}
        session = self._state().session
        theirs = [
            SlashCommand(
                name=info.name,
                summary=plain_line(retell(info.description)),
                run=self._passed_on(info.name),
                aliases=info.aliases,
                argument=plain_line(info.argument),
                completes=info.completes,
            )
            for info in (session.slash_commands if session is not None else ())
            if info.name not in own
        ]
        return tuple(sorted((*self._own, *theirs), key=lambda command: command.name))

    def find(self, name: str) -> SlashCommand | None:
        """The command of that name or alias."""
        return next((command for command in self.all if name in (command.name, *command.aliases)), None)

    def nearest(self, name: str, limit: int = 3) -> list[SlashCommand]:
        """Commands that `name` may have been meant for."""
        from difflib import get_close_matches

        names = {known: command for command in self.all for known in (command.name, *command.aliases)}
        close = get_close_matches(name, names, n=limit, cutoff=0.5)
        close += [match.text for match in fuzzy.best(name, names, limit)]
        return list({names[known].name: names[known] for known in close}.values())[:limit]

    # for completion

    def commands(self, query: str) -> Sequence[Choice]:
        """Commands whose name or alias fits, best first."""
        ranked: list[tuple[float, Choice]] = []
        for command in self.all:
            matches = [fuzzy.match(query, name) for name in (command.name, *command.aliases)]
            found = [match for match in matches if match is not None]
            if not found:
                continue
            own = matches[0]
            choice = Choice(
                value=command.name,
                label=f"/{command.name}",
                detail=command.told,
                note=command.argument,
                matched=tuple(position + 1 for position in own.positions) if own else (),
            )
            ranked.append((max(match.score for match in found), choice))
        ranked.sort(key=lambda pair: -pair[0])
        return [choice for _, choice in ranked]

    def arguments(self, name: str, query: str) -> Sequence[Choice]:
        """What the command's argument may be; nothing once it is one of them."""
        command = self.find(name)
        if command is not None and command.completes:
            return self._told_choices(command.name, query)
        if command is None or command.choices is None:
            return []
        options = command.choices(self._state())
        if query in options:
            return []
        found = fuzzy.best(query, options, len(options))
        return [Choice(value=match.text, label=match.text, matched=match.positions) for match in found]

    def _told_choices(self, name: str, text: str) -> Sequence[Choice]:
        """What the engine said; it is asked when it said nothing of this text yet."""
        told = self._state().replies.argument_choices
        if told is None or (told.command, told.text) != (name, text):
            self._ask(CompleteArgument(name, text))
        if told is None or told.command != name or not text.startswith(told.text):
            return []
        fitting = (it for it in told.choices if it.startswith(text) or told.text == text)
        return [Choice(value=it, label=it) for it in fitting if it != text]

    def resources(self, query: str) -> Sequence[Choice]:
        """MCP resources that can be named after `@`, as `SERVER:URI`, best first."""
        mcp = self._state().mcp
        named = {
            f"{server.name}:{resource.uri}": resource.name
            for server in (mcp.servers if mcp is not None else ())
            for resource in server.resources
        }
        found = fuzzy.best(query, named, _MOST_RESOURCES) if query else []
        return [
            Choice(value=match.text, label=match.text, detail=named[match.text], matched=match.positions)
            for match in found
        ]

    def takes_argument(self, name: str) -> bool:
        """Whether the command is incomplete without more words."""
        command = self.find(name)
        return command is not None and bool(command.argument) and not command.argument.startswith("[")

    def _passed_on(self, name: str) -> Callable[[Host, str], Awaitable[None]]:
        async def run(host: Host, argument: str) -> None:
            await self._run_engine_command(host, f"{name} {argument}".rstrip())

        return run
