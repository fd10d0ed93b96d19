"""Runs typed commands and entries of the command palette."""

from kimi_tui.frontend.parsed_command import ParsedCommand
from kimi_tui.frontend.session_controller import CommandResult
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.registry import CommandRegistry, UiCommand
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.widgets.choice_list import Choice


class CommandRunner:
    """Finds the command that the user means in the registry and runs it on the host."""

    def __init__(self, *, host: CommandHost, registry: CommandRegistry, key_labels: KeyLabels) -> None:
        self._host = host
        self._registry = registry
        self._key_labels = key_labels

    async def run(self, typed: ParsedCommand) -> CommandResult:
        """Run the command that `typed` names; if there is no such command, let the user choose a similar
        one.
        """
        command = self._registry.find(typed.name)
        if command is not None:
            await command.run(self._host, typed.argument)
            return "done"
        choices = [
            *(
                Choice(value=similar.name, label=f"/{similar.name}", detail=similar.translated_summary)
                for similar in self._registry.nearest(typed.name)
            ),
            Choice(value="/send", label=tr("send as a message")),
            Choice(value="/edit", label=tr("keep editing")),
        ]
        choice = await self._host.choose(tr("Unknown command: /{name}", name=typed.name), choices)
        if choice == "/send":
            return "send"
        command = self._registry.find(choice) if choice else None
        if command is None:
            return "edit"
        await command.run(self._host, typed.argument)
        return "done"

    async def choose_and_run(self) -> str:
        """Let the user choose a command and run it.

        If the command requires an argument, return the text to put into the prompt instead.
        """
        commands = {command.name: command for command in self._registry.all}
        choice = await self._host.choose(tr("Commands"), [self._choice(it) for it in commands.values()])
        command = commands.get(choice or "")
        if command is None:
            return ""
        if self._registry.takes_argument(command.name):
            return f"/{command.name} "
        await command.run(self._host, "")
        return ""

    def _choice(self, command: UiCommand) -> Choice:
        note = self._key_labels.first_key(command.binding_id) if command.binding_id else ""
        return Choice(value=command.name, label=command.name, detail=command.translated_summary, note=note)
