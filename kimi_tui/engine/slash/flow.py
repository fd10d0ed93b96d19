"""The slash commands /flow:NAME, which run flow skills."""

import asyncio

from kimi_tui.base.errors import MaxStepsReached, UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.slash.registry import SlashCommand
from kimi_tui.history.context import Context
from kimi_tui.skills.flow import Flow
from kimi_tui.skills.skills import Skill, read_flow
from kimi_tui.soul.soul import Soul
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import SteerInput

FLOW_PREFIX = "flow:"
_NO_CHOICE = "Your answer had no valid choice. End it with <choice>THE CHOICE</choice>."


class FlowRunner:
    """Runs flow skills: the prompt of each node, one after another, within one turn."""

    def __init__(self, *, soul: Soul, context: Context, max_nodes: int, sender: EventSender) -> None:
        self._soul = soul
        self._context = context
        self._max_nodes = max_nodes
        self._sender = sender

    def command(self, skill: Skill) -> SlashCommand:
        """Return the slash command that runs `skill`."""

        async def run(argument: str) -> None:
            if argument:
                raise UsageError(
                    msg("/{name} takes no arguments.", name=f"{FLOW_PREFIX}{skill.name}"),
                    hint="The prompts are in the skill.",
                )
            await self._run(await asyncio.to_thread(read_flow, skill))

        return SlashCommand(f"{FLOW_PREFIX}{skill.name}", skill.description, run, takes_turn=True)

    async def _run(self, flow: Flow) -> None:
        """Run the nodes from begin to end. Raises the errors of turns, and MaxStepsReached."""
        node = flow.edges[flow.begin][0].target
        prompt = flow.prompt(node) if node != flow.end else ""
        for _ in range(self._max_nodes):
            if node == flow.end:
                return
            self._sender.send(SteerInput(prompt))
            await self._soul.run(prompt)
            following = flow.next_node(node, self._context.history[-1].text)
            if following is None:
                prompt = f"{flow.prompt(node)}\n\n{_NO_CHOICE}"
            else:
                node = following
                prompt = flow.prompt(node) if node != flow.end else ""
        raise MaxStepsReached(self._max_nodes)
