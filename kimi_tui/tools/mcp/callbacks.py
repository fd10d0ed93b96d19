"""What a server says and asks by itself, on its way from fastmcp to the `Listener`."""

import json
import logging
from typing import Any

import mcp_types
from fastmcp.client.messages import MessageHandler
from mcp import MCPError

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.tools.mcp.listener import Elicitation, Listener, Sampling
from kimi_tui.tools.mcp.server_log import ServerLog

_LEVELS = {
    "debug": logging.DEBUG, "info": logging.INFO, "notice": logging.INFO, "warning": logging.WARNING,
    "error": logging.ERROR, "critical": logging.ERROR, "alert": logging.ERROR, "emergency": logging.ERROR,
}  # fmt: skip


class Notices(MessageHandler):
    """Passes on what concerns the offer."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    async def on_tool_list_changed(self, message: mcp_types.ToolListChangedNotification) -> None:
        """Tools came or went."""
        self._listener.offer_changed()

    async def on_prompt_list_changed(self, message: mcp_types.PromptListChangedNotification) -> None:
        """Prompts came or went."""
        self._listener.offer_changed()

    async def on_resource_list_changed(self, message: mcp_types.ResourceListChangedNotification) -> None:
        """Resources came or went."""
        self._listener.offer_changed()


def elicitation_handler(listener: Listener) -> Any:
    """Has `listener` ask the user."""

    async def handle(message: str, _: Any, params: Any, __: Any) -> mcp_types.ElicitResult:
        match params:
            case mcp_types.ElicitRequestURLParams(url=url):
                wanted = Elicitation(message=message, url=str(url))
            case _:
                wanted = Elicitation(message=message, schema=params.requested_schema)
        elicited = await listener.elicit(wanted)
        return mcp_types.ElicitResult(action=elicited.action, content=elicited.content)

    return handle


def sampling_handler(listener: Listener) -> Any:
    """Has `listener` ask the model; a refusal goes back as the protocol's error."""

    async def handle(messages: Any, params: Any, _: Any) -> mcp_types.CreateMessageResult:
        wanted = Sampling(
            messages=[Message(it.role, _text_parts(it.content)) for it in messages],
            system_prompt=params.system_prompt or "",
        )
        try:
            sampled = await listener.sample(wanted)
        except KimiTuiError as error:
            raise MCPError(code=mcp_types.INTERNAL_ERROR, message=error.what) from error
        return mcp_types.CreateMessageResult(
            role="assistant",
            content=mcp_types.TextContent(type="text", text=sampled.text),
            model=sampled.model,
            stop_reason="endTurn",
        )

    return handle


def _text_parts(content: Any) -> tuple[TextPart, ...]:
    blocks = content if isinstance(content, list) else [content]
    return tuple(
        TextPart(block.text if block.type == "text" else f"[{block.type}, left out]") for block in blocks
    )


async def log_message(said: mcp_types.LoggingMessageNotificationParams, log: ServerLog) -> None:
    """Log what the server wants logged."""
    data = said.data if isinstance(said.data, str) else json.dumps(said.data, ensure_ascii=False, default=str)
    log.take(data, level=_LEVELS.get(said.level, logging.INFO))
