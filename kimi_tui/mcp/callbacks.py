"""Adapters from fastmcp's callbacks to a `ClientHandler`: notifications, elicitation, sampling, logging."""

import json
import logging
from typing import Any

import mcp_types
from fastmcp.client.messages import MessageHandler
from mcp import MCPError

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.mcp.client_handler import ClientHandler, ElicitationRequest, SamplingRequest
from kimi_tui.mcp.server_log import ServerLog

_LEVELS = {
    "debug": logging.DEBUG, "info": logging.INFO, "notice": logging.INFO, "warning": logging.WARNING,
    "error": logging.ERROR, "critical": logging.ERROR, "alert": logging.ERROR, "emergency": logging.ERROR,
}  # fmt: skip


class NotificationHandler(MessageHandler):
    """Forwards notifications that a server's features changed."""

    def __init__(self, client: ClientHandler) -> None:
        self._client = client

    async def on_tool_list_changed(self, message: mcp_types.ToolListChangedNotification) -> None:
        """Handle added or removed tools."""
        self._client.on_features_changed()

    async def on_prompt_list_changed(self, message: mcp_types.PromptListChangedNotification) -> None:
        """Handle added or removed prompts."""
        self._client.on_features_changed()

    async def on_resource_list_changed(self, message: mcp_types.ResourceListChangedNotification) -> None:
        """Handle added or removed resources."""
        self._client.on_features_changed()


def build_elicitation_handler(client: ClientHandler) -> Any:
    """Return a handler for fastmcp that passes elicitation requests to `client`."""

    async def handle(message: str, _: Any, params: Any, __: Any) -> mcp_types.ElicitResult:
        match params:
            case mcp_types.ElicitRequestURLParams(url=url):
                request = ElicitationRequest(message=message, url=str(url))
            case _:
                request = ElicitationRequest(message=message, schema=params.requested_schema)
        result = await client.elicit(request)
        return mcp_types.ElicitResult(action=result.action, content=result.content)

    return handle


def build_sampling_handler(client: ClientHandler) -> Any:
    """Return a handler for fastmcp that passes sampling requests to `client`. It raises MCPError."""

    async def handle(messages: Any, params: Any, _: Any) -> mcp_types.CreateMessageResult:
        request = SamplingRequest(
            messages=[Message(it.role, _text_parts(it.content)) for it in messages],
            system_prompt=params.system_prompt or "",
        )
        try:
            result = await client.sample(request)
        except KimiTuiError as error:
            raise MCPError(code=mcp_types.INTERNAL_ERROR, message=error.what) from error
        return mcp_types.CreateMessageResult(
            role="assistant",
            content=mcp_types.TextContent(type="text", text=result.text),
            model=result.model,
            stop_reason="endTurn",
        )

    return handle


def _text_parts(content: Any) -> tuple[TextPart, ...]:
    blocks = content if isinstance(content, list) else [content]
    return tuple(
        TextPart(block.text if block.type == "text" else f"[{block.type} omitted]") for block in blocks
    )


async def log_message(message: mcp_types.LoggingMessageNotificationParams, log: ServerLog) -> None:
    """Write a server's log message to `log`."""
    data = (
        message.data
        if isinstance(message.data, str)
        else json.dumps(message.data, ensure_ascii=False, default=str)
    )
    log.log(data, level=_LEVELS.get(message.level, logging.INFO))
