"""Agent: a name, a system prompt and tools."""

import json

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import user_message
from kimi_tui.history.token_estimate import estimate_tokens
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.toolset import Toolset


def tool_text(schema: ToolSchema) -> str:
    """Return approximately the text that describes a tool to the model, for estimating tokens."""
    return f"{schema.name}{schema.description}{json.dumps(schema.parameters)}"


@frozen(kw_only=True)
class Agent:
    """An agent's name, system prompt and tools."""

    name: str
    system_prompt: str
    toolset: Toolset

    @property
    def overhead_tokens(self) -> int:
        """Estimated size of the system prompt and the tools, in tokens."""
        tools = "".join(map(tool_text, self.toolset.schemas))
        return estimate_tokens([user_message(self.system_prompt + tools)])
