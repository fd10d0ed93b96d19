"""Notes that tell the model when plan mode begins, while it lasts, and when it ends."""

from collections.abc import Sequence
from string import Template
from typing import Literal, Protocol

from kimi_tui.base.assets import read_asset
from kimi_tui.base.message import Message
from kimi_tui.history.message_history import is_note
from kimi_tui.soul.reminders import AddNote
from kimi_tui.tools.ask_user_question import AskUserQuestion
from kimi_tui.tools.plan.exit_plan_mode import ExitPlanMode
from kimi_tui.tools.plan.plan_mode import PlanMode
from kimi_tui.tools.toolset import Toolset

_ON_PREFIX = "Plan mode is on"
_STILL_ON_PREFIX = "Plan mode is still on"
_OFF_PREFIX = "Plan mode is off"

_SUBAGENT_NOTE = (
    f"{_ON_PREFIX}: make no changes. Calls that would change something are refused. Only shell commands that "
    "just read are allowed, such as git diff, git log, ls, grep and find without actions. Report what you "
    "found."
)
_STILL_ON_NOTE = (
    f"{_STILL_ON_PREFIX}: only read, write the plan to ${{PLAN_FILE}}, and call ${{EXIT}} when it is "
    "complete."
)
_OFF_NOTE = f"{_OFF_PREFIX}: you may make changes again, with the user's approval where it is required."

NotedState = Literal["on", "on before the latest prompt", "off", "nothing"]


class Conversation(Protocol):
    """Conversation that the notes are added to."""

    @property
    def history(self) -> Sequence[Message]:
        """The messages."""


class PlanReminder:
    """Adds notes about plan mode that the conversation lacks.

    If a compaction or a revert has removed a note, the reminder adds it again. Notes are only appended to the
    conversation, so the provider's cache stays valid.
    """

    def __init__(self, plan_mode: PlanMode, *, toolset: Toolset, conversation: Conversation) -> None:
        self._plan_mode = plan_mode
        self._toolset = toolset
        self._conversation = conversation
        self._notes = _PlanNotes()

    async def remind(self, add_note: AddNote, /) -> None:
        """Add the note that the conversation lacks, if any."""
        noted = self._notes.state_in(self._conversation.history)
        if not self._plan_mode.is_on:
            if noted in ("on", "on before the latest prompt"):
                await add_note(_OFF_NOTE)
        elif noted in ("nothing", "off"):
            await add_note(self._full_note())
        elif noted == "on before the latest prompt" and self._can_exit:
            await add_note(Template(_STILL_ON_NOTE).safe_substitute(self._template_values()))

    @property
    def _can_exit(self) -> bool:
        """Whether this agent can request approval of the plan."""
        return self._toolset.name_of(ExitPlanMode) is not None

    def _full_note(self) -> str:
        if not self._can_exit:
            return _SUBAGENT_NOTE
        return Template(read_asset("prompts", "plan_mode.md").strip()).safe_substitute(
            self._template_values()
        )

    def _template_values(self) -> dict[str, str]:
        return {
            "PLAN_FILE": str(self._plan_mode.file),
            "EXIT": self._toolset.name_of(ExitPlanMode) or "",
            "ASK": self._toolset.name_of(AskUserQuestion) or "your response",
        }


class _PlanNotes:
    """Finds the notes about plan mode in a conversation. Each call reads only the new messages."""

    def __init__(self) -> None:
        self._history: Sequence[Message] = ()
        self._n_read = 0
        self._newest: NotedState = "nothing"
        self._has_full_note = False

    def state_in(self, history: Sequence[Message]) -> NotedState:
        """Return the state in the newest note, or "nothing" if the full note is missing.

        Pass the same object again if the conversation has only grown, and a different object for a different
        conversation.
        """
        if history is not self._history or len(history) < self._n_read:
            self._history, self._n_read = history, 0
            self._newest, self._has_full_note = "nothing", False
        for at in range(self._n_read, len(history)):
            if history[at].role == "user":
                self._process(history[at])
        self._n_read = len(history)
        is_on = self._newest in ("on", "on before the latest prompt")
        return "nothing" if is_on and not self._has_full_note else self._newest

    def _process(self, message: Message) -> None:
        if not is_note(message):
            self._newest = "on before the latest prompt" if self._newest == "on" else self._newest
            return
        text = message.text.removeprefix("<system>")
        if text.startswith(_OFF_PREFIX):
            self._newest, self._has_full_note = "off", False
        elif text.startswith((_ON_PREFIX, _STILL_ON_PREFIX)):
            self._newest = "on"
            self._has_full_note = self._has_full_note or text.startswith(_ON_PREFIX)
