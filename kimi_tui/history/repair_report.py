"""Findings of a restore: torn, damaged or unfinished records, and how each was handled."""

from typing import Literal, assert_never

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg

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
                return msg(
                    "Line {line}, the last one, was truncated ({problem}). It was moved to "
                    "context.jsonl.damaged.",
                    line=self.line,
                    problem=self.detail,
                )
            case "damaged_line":
                return msg(
                    "Line {line} is damaged ({problem}). It was skipped and stays in the file.",
                    line=self.line,
                    problem=self.detail,
                )
            case "mended_line":
                return msg(
                    "Line {line} was only partly readable: {problem}.", line=self.line, problem=self.detail
                )
            case "unknown_role":
                return msg(
                    "Line {line} has an unknown role ({role}). It was skipped.",
                    line=self.line,
                    role=self.detail,
                )
            case "repeated_checkpoint":
                return msg(
                    "Line {line} repeats checkpoint {checkpoint}. The first one is used.",
                    line=self.line,
                    checkpoint=self.detail,
                )
            case "unanswered_call":
                return msg(
                    "{tool}, called in line {line}, has no result and counts as interrupted.",
                    tool=self.detail,
                    line=self.line,
                )
            case "stray_result":
                return msg(
                    "Line {line} is the result of a missing tool call. It was skipped.", line=self.line
                )
            case "interrupted_step":
                return msg(
                    "The step in line {line} was interrupted. Its finished part was kept.", line=self.line
                )
            case _:
                assert_never(self.kind)
