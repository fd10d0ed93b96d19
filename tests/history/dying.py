"""A process that is killed at each of its calls to the disk, one after another.

`python -m tests.history.dying FOLDER DEATH` plays `SESSION` in `FOLDER/1`, killed at its first call, in
`FOLDER/2`, killed at its second, and so on until it gets to the end; in `FOLDER/0` it isn't killed. Each
folder then holds what such a death leaves, and in `done` one byte for each act that had been carried out.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from kimi_tui.base.message import user_message
from kimi_tui.history.context import Context
from kimi_tui.history.disk import LOCAL_DISK, Disk
from tests.history.disks import DeadlyDisk, Death
from tests.history.words import asks, gives, says

Act = Callable[[Context], Awaitable[object]]

LONG = "a long text " * 50
STEP = asks("I look", "a", "b")
SESSION: tuple[Act, ...] = (
    lambda context: context.set_system_prompt("be good"),
    lambda context: context.checkpoint(True, kind="user"),
    lambda context: context.append_message(user_message(f"fix it {LONG}")),
    lambda context: context.checkpoint(True),
    lambda context: context.note_pending(STEP),
    lambda context: context.note_pending(gives("b", f"two {LONG}")),
    lambda context: context.append_step(
        [STEP, gives("a", f"one {LONG}"), gives("b", f"two {LONG}")], token_count=9
    ),
    lambda context: context.checkpoint(True),
    lambda context: context.append_step([says("it is fixed")], token_count=99),
    lambda context: context.revert_to(2, reason="dmail"),
    lambda context: context.checkpoint(True, kind="dmail"),
    lambda context: context.append_step([says("another way")], token_count=50),
    lambda context: context.replace([user_message(f"a summary {LONG}"), says("another way")]),
    lambda context: context.append_message(user_message("go on")),
    lambda context: context.restore_from_rotation(1),
    lambda context: context.set_system_prompt("be very good"),
    lambda context: context.clear(),
    lambda context: context.append_message(user_message("anew")),
)
SYNCED = {1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17}
"""The acts that promise that nothing before their end can be lost, not even in a power cut."""


async def play(
    folder: Path, disk: Disk = LOCAL_DISK, *, after: Callable[[Context], Awaitable[None]] | None = None
) -> None:
    """Play the session in `folder`."""
    context = Context(folder / "session" / "context.jsonl", disk=disk)
    for act in SESSION:
        await act(context)
        with (folder / "done").open("ab") as done:
            done.write(b".")
        if after is not None:
            await after(context)


def die_everywhere(folder: Path, death: Death) -> None:
    """Play the session again and again, each time to one call more, until it survives."""
    asyncio.run(play(_made(folder / "0")))  # what is built at first use is built before the forks
    call = 0
    survived = False
    while not survived:
        call += 1
        place = _made(folder / str(call))
        child = os.fork()
        if child == 0:
            asyncio.run(play(place, DeadlyDisk(call, death)))
            os._exit(0)
        survived = os.waitpid(child, 0)[1] == 0


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    die_everywhere(Path(sys.argv[1]), sys.argv[2])  # type: ignore[arg-type]
