"""Notes about plan mode, depending on those in the conversation."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from kimi_tui.base.content_parts import TextPart, system_note
from kimi_tui.base.message import Message, user_message
from kimi_tui.soul.plan_reminder import PlanReminder
from kimi_tui.tools.plan.exit_plan_mode import ExitPlanMode
from kimi_tui.tools.plan.plan_mode import PlanMode
from kimi_tui.tools.toolset import Toolset


class ToolsetWithExit(Toolset):
    """Toolset of an agent that can request approval of the plan."""

    def __init__(self) -> None:
        super().__init__({})

    def name_of(self, kind: type) -> str | None:
        return "ExitPlanMode" if kind is ExitPlanMode else "AskUserQuestion"


class Conversation:
    """A conversation with a reminder that has followed all of it."""

    def __init__(self) -> None:
        self.mode = PlanMode(Path("plan.md"))
        self.history: list[Message] = []
        self.reminder = self.new_reminder()

    def new_reminder(self) -> PlanReminder:
        return PlanReminder(self.mode, toolset=ToolsetWithExit(), conversation=self)

    async def notes_from(self, reminder: PlanReminder) -> list[str]:
        notes: list[str] = []

        async def add_note(text: str) -> None:
            notes.append(text)

        await reminder.remind(add_note)
        return notes

    def append_notes(self, notes: Sequence[str]) -> None:
        self.history += [user_message((system_note(note),)) for note in notes]


@pytest.mark.parametrize("seed", range(4))
async def test_an_incremental_reminder_adds_the_same_notes_as_a_new_one(seed: int) -> None:
    rng, conversation = random.Random(seed), Conversation()
    added = 0
    for _ in range(120):
        match rng.randrange(6):
            case 0:
                conversation.mode.is_on = not conversation.mode.is_on
            case 1:
                conversation.history = conversation.history[: rng.randrange(len(conversation.history) + 1)]
            case 2 | 3:
                conversation.history.append(user_message("and then?"))
            case 4:
                conversation.history.append(Message("assistant", (TextPart("so"),)))
            case _:
                notes = await conversation.notes_from(conversation.reminder)
                assert notes == await conversation.notes_from(conversation.new_reminder())
                conversation.append_notes(notes)
                added += len(notes)
    assert added > 5
