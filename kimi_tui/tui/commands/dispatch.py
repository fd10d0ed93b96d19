"""From a typed line or a palette entry to the command that it means."""

from typing import Literal

from kimi_tui.language.saying import say
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.commands.host import ScreenHost
from kimi_tui.tui.commands.line import Line
from kimi_tui.tui.commands.registry import Registry, SlashCommand
from kimi_tui.tui.keys import KeyNames

Verdict = Literal["done", "send", "edit"]
"""The line was run, goes to the agent as it is, or stays in the prompt."""


async def run_line(line: Line, *, host: ScreenHost, registry: Registry) -> Verdict:
    """Run the command that `line` names; when there is none, ask what was meant."""
    command = registry.find(line.name)
    if command is not None:
        await command.run(host, line.argument)
        return "done"
    near = registry.nearest(line.name)
    choices = [
        *(Choice(value=found.name, label=f"/{found.name}", detail=found.told) for found in near),
        Choice(value="/send", label=say("send it to the agent as it is")),
        Choice(value="/edit", label=say("go on editing")),
    ]
    chosen = await host.choose(say("There is no command /{name}.", name=line.name), choices)
    if chosen == "/send":
        return "send"
    meant = registry.find(chosen) if chosen else None
    if meant is None:
        return "edit"
    await meant.run(host, line.argument)
    return "done"


async def run_from_palette(*, host: ScreenHost, registry: Registry, names: KeyNames) -> str:
    """Let the user choose a command and run it; the text to put into the prompt if it wants an argument."""
    commands = {command.name: command for command in registry.all}
    chosen = await host.choose(say("Commands"), [_entry(command, names) for command in commands.values()])
    command = commands.get(chosen or "")
    if command is None:
        return ""
    if registry.takes_argument(command.name):
        return f"/{command.name} "
    await command.run(host, "")
    return ""


def _entry(command: SlashCommand, names: KeyNames) -> Choice:
    note = names.first(command.binding_id) if command.binding_id else ""
    return Choice(value=command.name, label=command.name, detail=command.told, note=note)
