"""Think: a note of the model to itself."""

from pydantic import Field

from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, ok
from kimi_tui.wire.events import ToolReturn


class ThinkParams(ToolParams):
    """What Think takes."""

    thought: str = Field(description="The thought.")


class Think(Tool[ThinkParams]):
    """Lets a model think between two calls; it changes nothing and learns nothing new."""

    name = "Think"
    Params = ThinkParams

    async def run(self, params: ThinkParams, call: RunningCall) -> ToolReturn:
        """The thought is in the call already; the result says no more than that it was heard."""
        return ok(message="Thought noted.", brief="thought noted")
