"""Registry of slash commands, used by the prompt, the command palette and the help."""

from collections.abc import Awaitable, Callable, Sequence

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.session_controller import EngineSession
from kimi_tui.frontend.text.message_passages import match_label, passage_line, quote_message
from kimi_tui.i18n.translate import translate_message
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.command_search import CommandSearch
from kimi_tui.tui.commands.ui_command import UiCommand
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.widgets import fuzzy
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.argument_completion import CompleteArgument
from kimi_tui.wire.commands import RunSlash, SearchMessages

_MAX_RESOURCES = 20
_MAX_PASSAGES = 20
_PASSAGE_LENGTH = 60


class CommandRegistry:
    """Commands of the screen and of the engine."""

    def __init__(
        self,
        commands: Sequence[UiCommand],
        *,
        session: EngineSession,
        search: CommandSearch,
        key_labels: KeyLabels,
    ) -> None:
        self._own_commands = tuple(commands)
        self._session = session
        self._search = search
        self._key_labels = key_labels

    @property
    def all(self) -> tuple[UiCommand, ...]:
        """All commands, sorted by name."""
        own_names = {name for command in self._own_commands for name in (command.name, *command.aliases)}
        session = self._session.state.session
        engine_commands = [
            UiCommand(
                name=info.name,
                summary=sanitize_line(translate_message(info.description)),
                run=_forward_to_engine(info.name),
                aliases=info.aliases,
                argument=sanitize_line(info.argument),
                completes=info.completes,
            )
            for info in (session.slash_commands if session is not None else ())
            if info.name not in own_names
        ]
        return tuple(sorted((*self._own_commands, *engine_commands), key=lambda command: command.name))

    def find(self, name: str) -> UiCommand | None:
        """Return the command with this name or alias."""
        return next((command for command in self.all if name in (command.name, *command.aliases)), None)

    def nearest(self, name: str, limit: int = 3) -> list[UiCommand]:
        """Return commands with a similar name."""
        from difflib import get_close_matches

        by_name = {known: command for command in self.all for known in (command.name, *command.aliases)}
        similar = get_close_matches(name, by_name, n=limit, cutoff=0.5)
        similar += [match.text for match in fuzzy.best_matches(name, by_name, limit)]
        return list({by_name[known].name: by_name[known] for known in similar}.values())[:limit]

    # for completion

    def commands(self, query: str) -> Sequence[Choice]:
        """Return the commands that match `query`, best match first. An empty query returns all by topic."""
        if query:
            return [self._choice(it.command, it.positions) for it in self._search.search(self.all, query)]
        choices: list[Choice] = []
        for group in self._search.group(self.all):
            choices.append(Choice(value="", label=group.title, is_heading=True))
            choices += [self._choice(command) for command in group.commands]
        return choices

    def _choice(self, command: UiCommand, positions: tuple[int, ...] = ()) -> Choice:
        key = self._key_labels.first_key(command.binding_id) if command.binding_id else ""
        return Choice(
            value=command.name,
            label=f"/{command.name}",
            detail=command.translated_summary,
            note=key or command.argument,
            matched_positions=tuple(position + 1 for position in positions),
        )

    def arguments(self, name: str, query: str) -> Sequence[Choice]:
        """Return the possible arguments of a command. Empty if the argument is complete."""
        command = self.find(name)
        if command is not None and command.completes:
            return self._engine_choices(command.name, query)
        if command is None or command.choices is None:
            return []
        options = command.choices(self._session.state)
        if query in options:
            return []
        matches = fuzzy.best_matches(query, options, len(options))
        return [
            Choice(value=match.text, label=match.text, matched_positions=match.positions) for match in matches
        ]

    def _engine_choices(self, name: str, text: str) -> Sequence[Choice]:
        """Return the engine's completions for `text`. Request them if they haven't arrived yet."""
        reply = self._session.state.replies.argument_choices
        if reply is None or (reply.command, reply.text) != (name, text):
            self._session.command(CompleteArgument(name, text))
        if reply is None or reply.command != name or not text.startswith(reply.text):
            return []
        matches = (it for it in reply.choices if it.startswith(text) or reply.text == text)
        return [Choice(value=it, label=it) for it in matches if it != text]

    def resources(self, query: str) -> Sequence[Choice]:
        """Return the MCP resources that can be mentioned with `@`, as `SERVER:URI`, best match first."""
        mcp = self._session.state.mcp
        names = {
            f"{server.name}:{resource.uri}": resource.name
            for server in (mcp.servers if mcp is not None else ())
            for resource in server.resources
        }
        matches = fuzzy.best_matches(query, names, _MAX_RESOURCES) if query else []
        return [
            Choice(
                value=match.text,
                label=match.text,
                detail=names[match.text],
                matched_positions=match.positions,
            )
            for match in matches
        ]

    def passages(self, query: str) -> Sequence[Choice]:
        """Return the messages of all sessions that contain `query`. Request them if they are missing."""
        if not query:
            return []
        reply = self._session.state.replies.message_matches
        if reply is None or reply.text != query:
            self._session.command(SearchMessages(query, _MAX_PASSAGES))
        if reply is None or not query.startswith(reply.text):
            return []
        return [
            Choice(
                value=quote_message(match),
                label=sanitize_line(passage_line(match, _PASSAGE_LENGTH)),
                detail=sanitize_line(match_label(match)),
            )
            for match in reply.matches[:_MAX_PASSAGES]
        ]

    def takes_argument(self, name: str) -> bool:
        """Return whether the command requires an argument."""
        command = self.find(name)
        return command is not None and bool(command.argument) and not command.argument.startswith("[")


def _forward_to_engine(name: str) -> Callable[[CommandHost, str], Awaitable[None]]:
    async def run(host: CommandHost, argument: str) -> None:
        host.command(RunSlash(f"{name} {argument}".rstrip()))

    return run
