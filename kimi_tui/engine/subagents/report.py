"""Report of a sub-agent's task."""

from collections.abc import Sequence
from typing import Literal

from kimi_tui.base.errors import KimiTuiError, MaxStepsReached
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.base.redaction import redact
from kimi_tui.compaction.boundaries import is_user_or_model_message
from kimi_tui.engine.subagents.isolated_workspace import WorkspaceReport
from kimi_tui.engine.subagents.store import SubagentRecord
from kimi_tui.soul.soul import TurnRejected


class DelegationRefused(KimiTuiError):
    """A task that can't be delegated as requested. The message is for the model."""


@frozen
class SubagentReport:
    """Result of a sub-agent's task."""

    record: SubagentRecord
    status: Literal["done", "failed", "timed_out"]
    response: str
    """The sub-agent's last response."""
    problem: str = ""
    """Why the task isn't done; empty if it is done."""
    workspace: WorkspaceReport | None = None
    """Result of adopting the sub-agent's changes. None: it worked in the working directory."""

    def describe(self, tool: str) -> str:
        """Return the message for the parent agent, without the response.

        `tool` is the name that the parent agent uses for the Task tool.
        """
        resume_call = f'{tool}(resume="{self.record.id}")'
        name = f"Sub-agent {self.record.id} ({self.record.kind})"
        if self.status == "done":
            changes = f" {self.workspace.describe()}" if self.workspace is not None else ""
            return f"{name} has finished.{changes} {resume_call} resumes it with its full context."
        follows = " Its last response follows." if self.response else ""
        changes = self.workspace.describe() if self.workspace else "The changes it has made are kept."
        return f"{name} did not finish: {self.problem}{follows} {resume_call} resumes it. {changes}"

    @property
    def workspace_brief(self) -> str:
        """A few words for the user about the adopted changes, after a comma; empty without a workspace."""
        return f", {self.workspace.brief}" if self.workspace is not None else ""


def describe_problem(error: Exception) -> str:
    """Return one or two sentences for the parent agent about why a sub-agent stopped."""
    match error:
        case TurnRejected():
            return (
                "the user rejected one of its tool calls. Don't try the same again; ask the user, or continue"
                " without it."
            )
        case MaxStepsReached(steps=steps):
            return f"it reached the limit of {steps} steps."
        case KimiTuiError():
            return str(error)
        case _:
            return redact(f"an internal error: {type(error).__name__}: {error}.")


def final_response(history: Sequence[Message]) -> str:
    """Return the model's last response since the last prompt, or an empty string."""
    for message in reversed(history):
        if message.role == "user" and is_user_or_model_message(message):
            break
        if message.role == "assistant" and message.text.strip():
            return message.text.strip()
    return ""
