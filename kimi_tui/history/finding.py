"""Findings: what a restore found torn, damaged or unfinished, and what became of it."""

from typing import Literal, assert_never

from kimi_tui.base.value import value

FindingKind = Literal[
    "torn_line",
    "damaged_line",
    "mended_line",
    "unknown_role",
    "repeated_checkpoint",
    "unanswered_call",
    "stray_result",
    "interrupted_step",
]


@value
class Finding:
    """One thing that was not as it should be."""

    kind: FindingKind
    line: int
    """The line of `context.jsonl`, from 1."""
    detail: str = ""

    @property
    def description(self) -> str:
        """What was found and what was done, for the user."""
        match self.kind:
            case "torn_line":
                return (
                    f"The last line, {self.line}, was cut off ({self.detail}); "
                    "it was moved to context.jsonl.damaged."
                )
            case "damaged_line":
                return (
                    f"Line {self.line} can't be read ({self.detail}) and is left out; it stays in the file."
                )
            case "mended_line":
                return f"Line {self.line} was read in part: {self.detail}."
            case "unknown_role":
                return f"Line {self.line} is a message of an unknown role ({self.detail}) and is left out."
            case "repeated_checkpoint":
                return f"Line {self.line} repeats checkpoint {self.detail}; the first one counts."
            case "unanswered_call":
                return (
                    f"{self.detail}, asked for in line {self.line}, had no result and counts as interrupted."
                )
            case "stray_result":
                return f"Line {self.line} is the result of a tool call that isn't there and is left out."
            case "interrupted_step":
                return f"The step of line {self.line} was interrupted; what it had done was kept."
            case _:
                assert_never(self.kind)
