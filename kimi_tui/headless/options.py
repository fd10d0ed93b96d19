"""Options of print mode."""

from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.base.output_schema import OutputSchema

InputFormat = Literal["text", "stream-json"]
OutputFormat = Literal["text", "json", "stream-json"]


@frozen(kw_only=True)
class PrintOptions:
    """Input and output of a run."""

    prompt: str = ""
    goal: str = ""
    """Command that has to pass in the end, as in `/goal`."""
    input_format: InputFormat = "text"
    output_format: OutputFormat = "text"
    final_only: bool = False
    """Whether to print only the last message of each turn."""
    allow_denials: bool = False
    """Whether the exit code is 0 even if tool calls were denied."""
    schema: OutputSchema | None = None
    """Schema that the response of each turn must match."""
    version: str = ""
