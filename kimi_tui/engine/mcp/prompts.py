"""Prompts of MCP servers as slash commands: `/mcp:SERVER:PROMPT`."""

import logging
import re
from collections.abc import Sequence
from functools import partial

from kimi_tui.base.content import UserInput
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal import plain_line
from kimi_tui.engine.slash_book import PromptCommand
from kimi_tui.tools.mcp.content import content_of
from kimi_tui.tools.mcp.offer import PromptOffer
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.prompt_arguments import prompt_arguments, unfinished, usage
from kimi_tui.tools.mcp.server import McpServer
from kimi_tui.tools.shell.output import OutputFolder

logger = logging.getLogger(__name__)

_MOST_CHOICES = 100
_NO_COMMAND = re.compile(r"[^\w-]")


def prompt_commands(servers: Sequence[McpServer], folder: OutputFolder) -> tuple[PromptCommand, ...]:
    """A command for each prompt of `servers`."""
    return tuple(
        _command(command_name(server, prompt), server, prompt, folder)
        for server in servers
        for prompt in server.offer.prompts
    )


def command_name(server: McpServer, prompt: PromptOffer) -> str:
    """What is typed after the slash."""
    return f"mcp:{_NO_COMMAND.sub('_', server.name)}:{_NO_COMMAND.sub('_', prompt.name)}"


def _command(name: str, server: McpServer, prompt: PromptOffer, folder: OutputFolder) -> PromptCommand:
    said = plain_line(prompt.description)[:200] or f"A prompt of the MCP server {server.name}"
    how = f" ({usage(name, prompt.arguments).rstrip('.')})" if prompt.arguments else ""
    completes = server.offer.completes and bool(prompt.arguments)
    return PromptCommand(
        name,
        said + how,
        partial(_said, name, server, prompt, folder),
        complete=partial(_choices, server, prompt) if completes else None,
    )


async def _choices(server: McpServer, prompt: PromptOffer, text: str) -> tuple[str, ...]:
    """What may stand in the place of `text`, by the server's word. One that fails has none."""
    wanted = unfinished(text, prompt.arguments)
    if wanted is None:
        return ()
    try:
        values = await server.values(prompt.name, wanted.name, wanted.text, wanted.given)
    except McpProblem as problem:
        logger.info("%s completes nothing: %s", server.name, problem)
        return ()
    return tuple(dict.fromkeys(wanted.completed(value) for value in values[:_MOST_CHOICES]))


async def _said(
    name: str, server: McpServer, prompt: PromptOffer, folder: OutputFolder, argument: str
) -> UserInput:
    arguments = prompt_arguments(argument, prompt.arguments, command=name)
    answer = await server.prompt(prompt.name, arguments)
    parts = await content_of(answer.pieces, folder)
    if not parts:
        raise KimiTuiError(f"The prompt {plain_line(prompt.name)} of {server.name} is empty.")
    return parts
