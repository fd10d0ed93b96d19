"""Requests from the engine to a front end, and their answers.

Pending futures are in the channel, never here.
"""

from typing import Any, Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.command_effects import CommandEffects
from kimi_tui.wire.display_blocks import DisplayBlock
from kimi_tui.wire.events import ApprovalResponse, ToolReturn


@frozen
class Proposal:
    """The full text that an approval would execute, which the user can edit first. Not in kimi-cli."""

    text: str
    name: str
    """A file name that indicates the type of text, such as `auth.py` or `command.sh`."""


@frozen
class ApprovalRequest:
    """Permission request for a tool call. Answered by an ApprovalResponse."""

    id: str
    tool_call_id: str
    sender: str
    """Name of the tool."""
    action: str
    """Kind of action, such as `run command`, `edit file`, `edit file outside of working directory`."""
    description: str
    display: tuple[DisplayBlock, ...] = ()
    source_kind: str | None = None
    source_id: str | None = None
    agent_id: str | None = None
    subagent_type: str | None = None
    source_description: str | None = None
    rule: str | None = None
    """The rule that `approve_always` would add; None if a call can only be approved once.

    Not in kimi-cli.
    """
    danger: str | None = None
    """Why the call is dangerous; None for a harmless call. Not in kimi-cli."""
    reason: str | None = None
    """Why this command needs approval before it runs. None if the reason applies to all commands.

    Not in kimi-cli.
    """
    effects: CommandEffects | None = None
    """Effects of a command that has run in a workspace. Approval commits them. Not in kimi-cli."""
    proposal: Proposal | None = None
    """Text that `ApprovalResponse.edited` can replace; None if it isn't editable. Not in kimi-cli."""


@frozen
class QuestionOption:
    """A predefined answer."""

    label: str
    description: str = ""


@frozen
class Question:
    """A question with 2 to 4 options. Free text is always possible."""

    question: str
    header: str
    options: tuple[QuestionOption, ...]
    multi_select: bool = False


@frozen
class QuestionRequest:
    """Questions from the model to the user. Answered by a QuestionResponse."""

    id: str
    tool_call_id: str
    questions: tuple[Question, ...]


@frozen
class QuestionResponse:
    """Answers by question text; empty if the user dismissed the questions."""

    request_id: str
    answers: dict[str, str]
    unanswerable: bool = False
    """Whether no user is present to answer. Asking again is useless. Not in kimi-cli."""


@frozen
class ToolCallRequest:
    """Call of a tool that the client registered. Answered by a ToolCallResponse."""

    id: str
    name: str
    arguments: str | None = None


@frozen
class ToolCallResponse:
    """Result of a client's tool. `tool_call_id` is the request's id."""

    tool_call_id: str
    return_value: ToolReturn


@frozen
class HookRequest:
    """An event that the client subscribed to. Answered by a HookResponse."""

    id: str
    subscription_id: str
    event: str
    target: str
    input_data: dict[str, Any]


@frozen
class HookResponse:
    """Decision of a client's hook."""

    request_id: str
    action: Literal["allow", "block"] = "allow"
    reason: str = ""


UserRequest = ApprovalRequest | QuestionRequest
"""Requests that the user answers."""
Request = UserRequest | ToolCallRequest | HookRequest
Answer = ApprovalResponse | QuestionResponse | ToolCallResponse | HookResponse
