"""Think: lets the model write down a thought."""

from pydantic import Field

from kimi_tui.tools.tool import CallContext, Tool, ToolParams, success
from kimi_tui.wire.events import ToolReturn


class ThinkParams(ToolParams):
    """Parameters of Think."""

    thought: str = Field(description="The thought.")


class Think(Tool[ThinkParams]):
    """Lets the model think between two calls. It changes nothing and retrieves nothing."""

    name = "Think"
    Params = ThinkParams

    async def run(self, params: ThinkParams, call: CallContext) -> ToolReturn:
        """Acknowledge the thought; the call itself contains it."""
        return success(message="Thought noted.", brief="thought noted")
