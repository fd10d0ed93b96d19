"""What the model is told of plan mode: when it begins, while it lasts, and when it ends."""

from collections.abc import Callable, Sequence
from string import Template
from typing import Literal

from kimi_tui.base.assets import read_asset
from kimi_tui.base.message import Message
from kimi_tui.history.conversation import is_note
from kimi_tui.soul.reminders import Say
from kimi_tui.tools.plan.leave import ExitPlanMode
from kimi_tui.tools.plan.mode import PlanMode
from kimi_tui.tools.questions.ask import AskUserQuestion
from kimi_tui.tools.toolset import Toolset

_ON = "Plan mode is on"
_STILL_ON = "Plan mode is still on"
_OFF = "Plan mode is off"

_HELPER = (
    f"{_ON}: change nothing. Every call that would is refused; of shell commands only those run that can do "
    "nothing but read, such as git diff, git log, ls, grep and find without actions. Report what you found."
)
_STILL = f"{_STILL_ON}: only read, keep the plan in ${{PLAN_FILE}}, and call ${{EXIT}} when it is complete."
_OVER = f"{_OFF}: you may change things again, with the user's approval where it is asked for."

Told = Literal["on", "on before the latest words", "off", "nothing"]


class PlanReminder:
    """Tells it by what stands in the conversation, so that a compaction or a revert makes it tell again.

    It only ever adds to the conversation: what a provider has cached of it stays good.
    """

    def __init__(
        self, plan_mode: PlanMode, *, toolset: Toolset, history: Callable[[], Sequence[Message]]
    ) -> None:
        self._plan_mode = plan_mode
        self._toolset = toolset
        self._history = history
        self._notes = _PlanNotes()

    async def __call__(self, say: Say, /) -> None:
        """Say what the model doesn't know yet."""
        told = self._notes.by(self._history())
        if not self._plan_mode.is_on:
            if told in ("on", "on before the latest words"):
                await say(_OVER)
        elif told in ("nothing", "off"):
            await say(self._whole())
        elif told == "on before the latest words" and self._leads_out:
            await say(Template(_STILL).safe_substitute(self._words()))

    @property
    def _leads_out(self) -> bool:
        """Whether it is this agent that asks for approval of the plan."""
        return self._toolset.name_of(ExitPlanMode) is not None

    def _whole(self) -> str:
        if not self._leads_out:
            return _HELPER
        return Template(read_asset("prompts", "plan_mode.md").strip()).safe_substitute(self._words())

    def _words(self) -> dict[str, str]:
        return {
            "PLAN_FILE": str(self._plan_mode.file),
            "EXIT": self._toolset.name_of(ExitPlanMode) or "",
            "ASK": self._toolset.name_of(AskUserQuestion) or "your answer",
        }


class _PlanNotes:
    """What a conversation was told of plan mode, read on from where it was read before."""

    def __init__(self) -> None:
        self._history: Sequence[Message] = ()
        self._read = 0
        self._newest: Told = "nothing"
        self._has_whole_note = False

    def by(self, history: Sequence[Message]) -> Told:
        """Its newest word, as long as the whole note is there, too.

        `history` may have grown at its end since it was read before; another conversation is another object.
        """
        if history is not self._history or len(history) < self._read:
            self._history, self._read = history, 0
            self._newest, self._has_whole_note = "nothing", False
        for at in range(self._read, len(history)):
            if history[at].role == "user":
                self._hear(history[at])
        self._read = len(history)
        is_on = self._newest in ("on", "on before the latest words")
        return "nothing" if is_on and not self._has_whole_note else self._newest

    def _hear(self, message: Message) -> None:
        if not is_note(message):
            self._newest = "on before the latest words" if self._newest == "on" else self._newest
            return
        text = message.text.removeprefix("<system>")
        if text.startswith(_OFF):
            self._newest, self._has_whole_note = "off", False
        elif text.startswith((_ON, _STILL_ON)):
            self._newest = "on"
            self._has_whole_note = self._has_whole_note or text.startswith(_ON)
