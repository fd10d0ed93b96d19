"""What the model is told of plan mode, by what stands in the conversation."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from kimi_tui.base.content import TextPart, system_note
from kimi_tui.base.message import Message, user_message
from kimi_tui.soul.plan_reminder import PlanReminder
from kimi_tui.tools.plan.leave import ExitPlanMode
from kimi_tui.tools.plan.mode import PlanMode
from kimi_tui.tools.toolset import Toolset


class LeadsOut(Toolset):
    """The tools of who asks for approval of the plan."""

    def __init__(self) -> None:
        super().__init__({})

    def name_of(self, kind: type) -> str | None:
        return "ExitPlanMode" if kind is ExitPlanMode else "AskUserQuestion"


class Conversation:
    """One with a reminder that has heard all of it."""

    def __init__(self) -> None:
        self.mode = PlanMode(Path("plan.md"))
        self.history: list[Message] = []
        self.reminder = self.new_reminder()

    def new_reminder(self) -> PlanReminder:
        return PlanReminder(self.mode, toolset=LeadsOut(), history=lambda: self.history)

    async def words_of(self, reminder: PlanReminder) -> list[str]:
        said: list[str] = []

        async def say(text: str) -> None:
            said.append(text)

        await reminder(say)
        return said

    def go_on_with(self, notes: Sequence[str]) -> None:
        self.history += [user_message((system_note(note),)) for note in notes]


@pytest.mark.parametrize("seed", range(4))
async def test_who_heard_the_conversation_says_what_one_who_reads_it_would(seed: int) -> None:
    chance, conversation = random.Random(seed), Conversation()
    said = 0
    for _ in range(120):
        match chance.randrange(6):
            case 0:
                conversation.mode.is_on = not conversation.mode.is_on
            case 1:
                conversation.history = conversation.history[: chance.randrange(len(conversation.history) + 1)]
            case 2 | 3:
                conversation.history.append(user_message("and then?"))
            case 4:
                conversation.history.append(Message("assistant", (TextPart("so"),)))
            case _:
                words = await conversation.words_of(conversation.reminder)
                assert words == await conversation.words_of(conversation.new_reminder())
                conversation.go_on_with(words)
                said += len(words)
    assert said > 5
