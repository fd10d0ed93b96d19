"""An agent: who works on a conversation."""

import json

from kimi_tui.base.message import user_message
from kimi_tui.base.value import value
from kimi_tui.history.estimate import estimated_tokens
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.toolset import Toolset


def text_of_tool(schema: ToolSchema) -> str:
    """About what a model reads of a tool."""
    return f"{schema.name}{schema.description}{json.dumps(schema.parameters)}"


@value(kw_only=True)
class Agent:
    """Who works: a name, what it is told, and what it can do."""

    name: str
    system_prompt: str
    toolset: Toolset

    @property
    def fixed_tokens(self) -> int:
        """An estimate of what is sent beside the conversation: system prompt and tools."""
        tools = "".join(map(text_of_tool, self.toolset.schemas))
        return estimated_tokens([user_message(self.system_prompt + tools)])
