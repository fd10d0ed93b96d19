"""Dispatch of typed lines and palette entries to commands."""

from typing import Literal

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.parse import ParsedCommand
from kimi_tui.tui.commands.registry import CommandRegistry, UiCommand
from kimi_tui.tui.commands.screen_host import ScreenCommandHost
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.widgets.choice_list import Choice

LineResult = Literal["done", "send", "edit"]
"""Whether the line was run, is sent to the agent as a prompt, or stays in the prompt for editing."""


async def run_line(line: ParsedCommand, *, host: ScreenCommandHost, registry: CommandRegistry) -> LineResult:
    """Run the command that `line` names; if there is no such command, let the user choose a similar one."""
    command = registry.find(line.name)
    if command is not None:
        await command.run(host, line.argument)
        return "done"
    choices = [
        *(
            Choice(value=similar.name, label=f"/{similar.name}", detail=similar.translated_summary)
            for similar in registry.nearest(line.name)
        ),
        Choice(value="/send", label=tr("send as a message")),
        Choice(value="/edit", label=tr("keep editing")),
    ]
    choice = await host.choose(tr("Unknown command: /{name}", name=line.name), choices)
    if choice == "/send":
        return "send"
    command = registry.find(choice) if choice else None
    if command is None:
        return "edit"
    await command.run(host, line.argument)
    return "done"


async def run_from_palette(
    *, host: ScreenCommandHost, registry: CommandRegistry, key_labels: KeyLabels
) -> str:
    """Let the user choose a command and run it.

    If the command requires an argument, return the text to put into the prompt instead.
    """
    commands = {command.name: command for command in registry.all}
    choice = await host.choose(
        tr("Commands"), [_command_choice(command, key_labels) for command in commands.values()]
    )
    command = commands.get(choice or "")
    if command is None:
        return ""
    if registry.takes_argument(command.name):
        return f"/{command.name} "
    await command.run(host, "")
    return ""


def _command_choice(command: UiCommand, key_labels: KeyLabels) -> Choice:
    note = key_labels.first_key(command.binding_id) if command.binding_id else ""
    return Choice(value=command.name, label=command.name, detail=command.translated_summary, note=note)
