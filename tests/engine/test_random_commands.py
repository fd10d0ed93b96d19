"""Commands and answers in any order: every turn ends, the journal stays valid, and the session lives on."""

import asyncio
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kimi_tui.wire.commands import (
    Command,
    Interrupt,
    Prompt,
    Redo,
    Revert,
    RunSlash,
    SetThinking,
    SetYolo,
    Steer,
    Undo,
)
from kimi_tui.wire.events import ApprovalAnswer, Notification, RevertScope, TurnBegin, TurnEnd
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, call, script, write

SEEDS = range(int(os.environ.get("KIMI_TUI_ORDERS", "6")))
ANSWERS: Sequence[ApprovalAnswer] = ("approve", "approve_for_session", "approve_always", "reject")
SCRIPTS: Sequence[Callable[[int], str]] = (
    lambda n: script("text: thinking aloud", "delay: 0.03", "text: more"),
    lambda n: script("text: writing", write("c1", f"f{n % 3}", f"v{n}"), write("c2", f"f{n % 2}", f"w{n}")),
    lambda n: script("text: running", bash("c1", "echo hi; sleep 0.02"), call("c2", "LS", path=".")),
    lambda n: script("text: half", "error_after: connection gone"),
    lambda n: script("text: lost", call("x", "Nonsense", a=1), call("y", "ReadFile", path="f1")),
    lambda n: script("think: hm", "text: well", "usage: input_other=10 output=5"),
    lambda n: script("text: planning", call("t", "SetTodoList", todos=[])),
    lambda n: "error: 401 no",
    lambda n: "text: done",
)


class RandomUser:
    """Does something, by chance."""

    def __init__(self, front: FakeFrontEnd, chance: random.Random) -> None:
        self._front = front
        self._chance = chance

    async def act(self) -> None:
        """Give a command or answer what is open, and let some or no time pass."""
        choose = self._chance.choice
        if self._chance.random() < 0.3:
            for request in self._front.open_requests():
                self._front.answer(request, choose(ANSWERS), choose(("", "no")))
        else:
            self._front.send(choose(self._commands()))
        for _ in range(choose((0, 0, 1, 2, 5, 20))):
            await asyncio.sleep(0)
        if self._chance.random() < 0.3:
            await asyncio.sleep(self._chance.random() / 20)

    def _commands(self) -> Sequence[Command]:
        number = self._chance.randrange(10)
        line = self._chance.choice(("clear", "compact", "undo", "title x", "nonsense"))
        scope: RevertScope = self._chance.choice(("both", "conversation", "files"))
        return (
            Prompt(f"prompt {number}"), Prompt(f"prompt {number}"), Prompt(f"prompt {number}"),
            Steer(f"steer {number}"), Interrupt(), Interrupt(), SetYolo(number > 5), SetThinking(number > 5),
            RunSlash(line), Revert(number, scope), Undo(), Redo(),
        )  # fmt: skip


@pytest.mark.parametrize("keeps_files", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
async def test_nothing_breaks_whatever_comes_when(tmp_path: Path, seed: int, keeps_files: bool) -> None:
    chance = random.Random(seed)
    home = SessionEnv(tmp_path)
    home.script(*(chance.choice(SCRIPTS)(number) for number in range(100)))
    settings = home.settings(checkpoints={"files": keeps_files})
    for _ in range(2):
        async with home.open_session(settings=settings, continue_last=True) as front:
            hand = RandomUser(front, chance)
            for _ in range(25):
                await hand.act()
            front.send(SetYolo(True))
            front.send(Prompt("still there?"))
            await front.wait_for(TurnBegin, where=lambda turn: turn.user_input == "still there?")
            await front.wait_for(TurnEnd)
        defects = [event.failure.what for event in front.of(TurnEnd) if event.failure is not None]
        defects += [event.title for event in front.of(Notification)]
        assert not [what for what in defects if "internal error" in what.lower()]
