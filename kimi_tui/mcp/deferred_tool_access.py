"""Tools with which a model finds and calls deferred tools."""

import json
from typing import Any

from pydantic import Field, field_validator

from kimi_tui.base.message_text import msg
from kimi_tui.mcp.deferred_tools import DeferredTools, format_schema
from kimi_tui.tools.tool import CallContext, ForwardedCall, Tool, ToolParams, failure, success
from kimi_tui.wire.events import ToolReturn

_MAX_RESULT_CHARS = 40_000


class SearchMcpToolsParams(ToolParams):
    """Parameters of SearchMcpTools."""

    query: str = Field(description="Words that describe the task, or names of tools.")
    limit: int = Field(default=5, ge=1, le=20, description="Maximum number of tools to return.")


class SearchMcpTools(Tool[SearchMcpToolsParams]):
    """Returns the schemas of deferred tools. Its description lists their names."""

    name = "SearchMcpTools"
    Params = SearchMcpToolsParams

    def __init__(self, tools: DeferredTools) -> None:
        self._tools = tools

    @property
    def description(self) -> str:
        """The prompt, followed by the list of names."""
        return f"{super().description}\n\nThe tools by server:\n{self._tools.build_listing()}"

    async def run(self, params: SearchMcpToolsParams, call: CallContext) -> ToolReturn:
        """Return name, description and parameters of each tool found."""
        found = self._tools.search(params.query, limit=params.limit)
        if not found:
            return success(
                message="No tool matches. Try other words, or the names listed for SearchMcpTools.",
                brief=msg("{count} tools", count=0),
            )
        texts: list[str] = []
        for schema in found:
            text = format_schema(schema)
            if texts and sum(map(len, texts)) + len(text) > _MAX_RESULT_CHARS:
                break
            texts.append(text)
        names = ", ".join(schema.name for schema in found[: len(texts)])
        return success(
            "\n\n".join(texts),
            message="Call one with CallMcpTool.",
            brief=msg("{count} tools: {names}", count=len(texts), names=names),
        )


class CallMcpToolParams(ToolParams):
    """Parameters of CallMcpTool."""

    name: str = Field(description="The tool's name.")
    arguments: dict[str, Any] = Field(default={}, description="The tool's arguments.")

    @field_validator("arguments", mode="before")
    @classmethod
    def _parse_text(cls, value: Any) -> Any:
        """Accept an object encoded as a string, which some models write."""
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            return value


class CallMcpTool(Tool[CallMcpToolParams]):
    """Calls a deferred tool. Hooks, permissions and plan mode see the call of that tool."""

    name = "CallMcpTool"
    Params = CallMcpToolParams
    forwards_calls = True

    def __init__(self, tools: DeferredTools) -> None:
        self._tools = tools

    def forwarded_call(self, params: CallMcpToolParams) -> ForwardedCall | None:
        """Return the call of the deferred tool, if it exists."""
        return ForwardedCall(params.name, params.arguments) if params.name in self._tools.names else None

    async def run(self, params: CallMcpToolParams, call: CallContext) -> ToolReturn:
        """Return what to do instead of calling a tool that doesn't exist."""
        similar = self._tools.find_similar(params.name)
        suggestion = f" Did you mean {similar}?" if similar else ""
        return failure(
            f"There is no MCP tool “{params.name[:100]}”.{suggestion} Find tools with SearchMcpTools.",
            brief="invalid call",
        )
