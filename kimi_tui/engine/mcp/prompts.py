"""Prompts of MCP servers as slash commands: `/mcp:SERVER:PROMPT`."""

import logging
import re
from collections.abc import Sequence
from functools import partial

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.engine.slash.registry import PromptCommand
from kimi_tui.mcp.content import to_model_content
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.prompt_arguments import find_partial_argument, format_usage, parse_prompt_arguments
from kimi_tui.mcp.server import McpServer
from kimi_tui.mcp.server_features import PromptInfo
from kimi_tui.tools.shell.captured_output import OutputFolder

logger = logging.getLogger(__name__)

_MAX_CHOICES = 100
_INVALID_CHARACTER = re.compile(r"[^\w-]")


def prompt_commands(servers: Sequence[McpServer], folder: OutputFolder) -> tuple[PromptCommand, ...]:
    """Return a slash command for each prompt of `servers`."""
    return tuple(
        _build_command(command_name(server, prompt), server, prompt, folder)
        for server in servers
        for prompt in server.features.prompts
    )


def command_name(server: McpServer, prompt: PromptInfo) -> str:
    """Return the name of a prompt's slash command, without the slash."""
    return f"mcp:{_INVALID_CHARACTER.sub('_', server.name)}:{_INVALID_CHARACTER.sub('_', prompt.name)}"


def _build_command(name: str, server: McpServer, prompt: PromptInfo, folder: OutputFolder) -> PromptCommand:
    description = sanitize_line(prompt.description)[:200] or f"Prompt of the MCP server {server.name}"
    usage = f" ({format_usage(name, prompt.arguments).rstrip('.')})" if prompt.arguments else ""
    completes = server.features.supports_completion and bool(prompt.arguments)
    return PromptCommand(
        name,
        description + usage,
        partial(_render_prompt, name, server, prompt, folder),
        complete=partial(_complete, server, prompt) if completes else None,
    )


async def _complete(server: McpServer, prompt: PromptInfo, text: str) -> tuple[str, ...]:
    """Return the server's completions of `text`; empty if the server fails."""
    partial_argument = find_partial_argument(text, prompt.arguments)
    if partial_argument is None:
        return ()
    try:
        values = await server.complete_argument(
            prompt.name, partial_argument.name, partial_argument.text, partial_argument.known
        )
    except McpServerError as error:
        logger.info("no completions from %s: %s", server.name, error)
        return ()
    return tuple(dict.fromkeys(partial_argument.complete(value) for value in values[:_MAX_CHOICES]))


async def _render_prompt(
    name: str, server: McpServer, prompt: PromptInfo, folder: OutputFolder, argument: str
) -> UserInput:
    arguments = parse_prompt_arguments(argument, prompt.arguments, command=name)
    result = await server.get_prompt(prompt.name, arguments)
    parts = await to_model_content(result.content, folder)
    if not parts:
        raise KimiTuiError(
            msg(
                "The prompt {prompt} of {server} is empty.",
                prompt=sanitize_line(prompt.name),
                server=server.name,
            )
        )
    return parts
