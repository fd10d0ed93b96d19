"""Requests: what the engine asks a front end, and the answers. Futures live in the channel, never here."""

from typing import Any, Literal

from kimi_tui.base.value import value
from kimi_tui.wire.display import DisplayBlock
from kimi_tui.wire.events import ApprovalResponse, ToolReturn


@value
class Proposal:
    """Ours: the text that an approval would put into effect, whole, for the user to change it first."""

    text: str
    name: str
    """A file name that says what kind of text it is, such as `auth.py` or `command.sh`."""


@value
class ApprovalRequest:
    """May this tool call run? Answered by an ApprovalResponse."""

    id: str
    tool_call_id: str
    sender: str
    """The tool's name."""
    action: str
    """The kind of act, such as `run command`, `edit file`, `edit file outside of working directory`."""
    description: str
    display: tuple[DisplayBlock, ...] = ()
    source_kind: str | None = None
    source_id: str | None = None
    agent_id: str | None = None
    subagent_type: str | None = None
    source_description: str | None = None
    rule: str | None = None
    """Ours: the rule that `approve_always` would write; None when nothing may be granted beyond this once."""
    danger: str | None = None
    """Ours: why this is dangerous; None when it is not."""
    proposal: Proposal | None = None
    """Ours: what an answer may change (`ApprovalResponse.edited`); None when it is yes or no."""


@value
class QuestionOption:
    """One answer to choose."""

    label: str
    description: str = ""


@value
class Question:
    """One question with 2 to 4 options; free text is always possible."""

    question: str
    header: str
    options: tuple[QuestionOption, ...]
    multi_select: bool = False


@value
class QuestionRequest:
    """The model asks the user. Answered by a QuestionResponse."""

    id: str
    tool_call_id: str
    questions: tuple[Question, ...]


@value
class QuestionResponse:
    """Answers by the question's text; empty when the user dismissed them."""

    request_id: str
    answers: dict[str, str]
    unanswerable: bool = False
    """Ours: nobody is there who could answer, so asking again makes no sense."""


@value
class ToolCallRequest:
    """Run a tool that the client registered. Answered by a ToolCallResponse."""

    id: str
    name: str
    arguments: str | None = None


@value
class ToolCallResponse:
    """The result of a client's tool; `tool_call_id` is the request's id."""

    tool_call_id: str
    return_value: ToolReturn


@value
class HookRequest:
    """A hook that the client subscribed to fires. Answered by a HookResponse."""

    id: str
    subscription_id: str
    event: str
    target: str
    input_data: dict[str, Any]


@value
class HookResponse:
    """What a client's hook decided."""

    request_id: str
    action: Literal["allow", "block"] = "allow"
    reason: str = ""


Request = ApprovalRequest | QuestionRequest | ToolCallRequest | HookRequest
Answer = ApprovalResponse | QuestionResponse | ToolCallResponse | HookResponse
