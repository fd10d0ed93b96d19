"""Findings of a restore: torn, damaged or unfinished records, and how each was handled."""

from typing import Literal, assert_never

from kimi_tui.base.frozen import frozen

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


@frozen
class RepairFinding:
    """One problem found in a journal."""

    kind: FindingKind
    line: int
    """The line in `context.jsonl`, from 1."""
    detail: str = ""

    @property
    def description(self) -> str:
        """The problem and how it was handled, for the user."""
        match self.kind:
            case "torn_line":
                return (
                    f"Line {self.line}, the last one, was truncated ({self.detail}). "
                    "It was moved to context.jsonl.damaged."
                )
            case "damaged_line":
                return f"Line {self.line} is damaged ({self.detail}). It was skipped and stays in the file."
            case "mended_line":
                return f"Line {self.line} was only partly readable: {self.detail}."
            case "unknown_role":
                return f"Line {self.line} has an unknown role ({self.detail}). It was skipped."
            case "repeated_checkpoint":
                return f"Line {self.line} repeats checkpoint {self.detail}. The first one is used."
            case "unanswered_call":
                return f"{self.detail}, called in line {self.line}, has no result and counts as interrupted."
            case "stray_result":
                return f"Line {self.line} is the result of a missing tool call. It was skipped."
            case "interrupted_step":
                return f"The step in line {self.line} was interrupted. Its finished part was kept."
            case _:
                assert_never(self.kind)
