"""What comes of a sub-agent's task."""

from collections.abc import Sequence
from typing import Literal

from kimi_tui.base.errors import KimiTuiError, MaxStepsReached
from kimi_tui.base.message import Message
from kimi_tui.base.secrets import blacked_out
from kimi_tui.base.value import value
from kimi_tui.compaction.passage import is_own
from kimi_tui.engine.subagents.records import SubagentRecord
from kimi_tui.soul.soul import TurnRejected


class Refused(KimiTuiError):
    """Work that can't be given to a sub-agent as it was asked for. Its reader is the model."""


@value
class Report:
    """How a task ended."""

    record: SubagentRecord
    status: Literal["done", "failed", "timed_out"]
    answer: str
    """The last that the sub-agent said."""
    problem: str = ""
    """Why it is not done."""

    def words(self, tool: str) -> str:
        """What its parent is told beside the answer; `tool` is what it calls Task."""
        again = f'{tool}(resume="{self.record.id}")'
        who = f"Sub-agent {self.record.id} ({self.record.kind})"
        if self.status == "done":
            return f"{who} has finished. {again} lets it go on, with all it knows."
        follows = " The last it said follows." if self.answer else ""
        return (
            f"{who} did not finish: {self.problem}{follows} "
            f"{again} lets it go on; what it changed until then is there."
        )


def problem_in_words(error: Exception) -> str:
    """Why a sub-agent stopped, for its parent: one or two sentences."""
    match error:
        case TurnRejected():
            return (
                "the user rejected one of its calls. Don't have the same tried again; ask the user, or go on"
                " without it."
            )
        case MaxStepsReached(steps=steps):
            return f"it took {steps} steps, the most it may take at once."
        case KimiTuiError():
            return str(error)
        case _:
            return blacked_out(f"an internal error: {type(error).__name__}: {error}.")


def last_words(history: Sequence[Message]) -> str:
    """The last that the model has said since it was last asked; empty when nothing."""
    for message in reversed(history):
        if message.role == "user" and is_own(message):
            break
        if message.role == "assistant" and message.text.strip():
            return message.text.strip()
    return ""
