"""What print mode is asked to do."""

from typing import Literal

from kimi_tui.base.output_schema import OutputSchema
from kimi_tui.base.value import value

InputFormat = Literal["text", "stream-json"]
OutputFormat = Literal["text", "json", "stream-json"]


@value(kw_only=True)
class PrintOptions:
    """Input and output of one run."""

    prompt: str = ""
    input_format: InputFormat = "text"
    output_format: OutputFormat = "text"
    final_only: bool = False
    """Of each turn, only its last message."""
    allow_denials: bool = False
    """Whether a denied tool leaves the exit code 0."""
    schema: OutputSchema | None = None
    """What the answer of each turn must fit."""
    version: str = ""
