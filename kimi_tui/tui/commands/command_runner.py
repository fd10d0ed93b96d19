"""Runs typed commands and entries of the command palette."""

from kimi_tui.frontend.parsed_command import ParsedCommand
from kimi_tui.frontend.session_controller import CommandResult
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.registry import CommandRegistry
from kimi_tui.tui.commands.ui_command import UiCommand
from kimi_tui.tui.commands.usage_recorder import UsageRecorder
from kimi_tui.tui.widgets.choice_list import Choice


class CommandRunner:
    """Finds the command that the user means in the registry and runs it on the host."""

    def __init__(self, *, host: CommandHost, registry: CommandRegistry, usage: UsageRecorder) -> None:
        self._host = host
        self._registry = registry
        self._usage = usage

    async def run(self, typed: ParsedCommand) -> CommandResult:
        """Run the command that `typed` names. If it doesn't exist, let the user choose a similar command."""
        command = self._registry.find(typed.name)
        if command is not None:
            await self._run(command, typed.argument)
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
        await self._run(command, typed.argument)
        return "done"

    async def choose_and_run(self) -> str:
        """Let the user choose a command and run it.

        If the command requires an argument, don't run it: return the text to put into the prompt.
        """
        name = await self._host.dialogs.choose_command()
        command = self._registry.find(name) if name else None
        if command is None:
            return ""
        if self._registry.takes_argument(command.name):
            return f"/{command.name} "
        await self._run(command, "")
        return ""

    async def _run(self, command: UiCommand, argument: str) -> None:
        self._usage.record(command.name)
        await command.run(self._host, argument)
