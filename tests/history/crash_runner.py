"""Program that runs a session repeatedly, each time killed at the next file system call.

`python -m tests.history.crash_runner DIRECTORY MODE` runs `SESSION` in `DIRECTORY/1`, killed at its first
call, in `DIRECTORY/2`, killed at its second, and so on until it completes. The run in `DIRECTORY/0` isn't
killed. Each directory then contains what that crash leaves, and in `done` one byte per completed action.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from kimi_tui.base.message import user_message
from kimi_tui.history.context import Context
from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM, FileSystem
from tests.history.file_systems import CrashingFileSystem, CrashMode
from tests.history.messages import assistant_calls, assistant_message, tool_result

SessionAction = Callable[[Context], Awaitable[object]]

LONG_TEXT = "a long text " * 50
STEP = assistant_calls("I look", "a", "b")
SESSION: tuple[SessionAction, ...] = (
    lambda context: context.set_system_prompt("be good"),
    lambda context: context.checkpoint(True, kind="user"),
    lambda context: context.append_message(user_message(f"fix it {LONG_TEXT}")),
    lambda context: context.checkpoint(True),
    lambda context: context.record_pending(STEP),
    lambda context: context.record_pending(tool_result("b", f"two {LONG_TEXT}")),
    lambda context: context.append_step(
        [STEP, tool_result("a", f"one {LONG_TEXT}"), tool_result("b", f"two {LONG_TEXT}")], token_count=9
    ),
    lambda context: context.checkpoint(True),
    lambda context: context.append_step([assistant_message("it is fixed")], token_count=99),
    lambda context: context.revert_to(2, reason="dmail"),
    lambda context: context.checkpoint(True, kind="dmail"),
    lambda context: context.append_step([assistant_message("another way")], token_count=50),
    lambda context: context.replace(
        [user_message(f"a summary {LONG_TEXT}"), assistant_message("another way")]
    ),
    lambda context: context.append_message(user_message("go on")),
    lambda context: context.restore_from_rotation(1),
    lambda context: context.set_system_prompt("be very good"),
    lambda context: context.clear(),
    lambda context: context.append_message(user_message("new")),
)
SYNCED = {1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17}
"""Actions after which nothing before them can be lost, not even in a power cut."""


async def play_session(
    folder: Path,
    fs: FileSystem = LOCAL_FILE_SYSTEM,
    *,
    after: Callable[[Context], Awaitable[None]] | None = None,
) -> None:
    """Run the session in `folder`."""
    context = Context(folder / "session" / "context.jsonl", fs=fs)
    for action in SESSION:
        await action(context)
        with (folder / "done").open("ab") as done:
            done.write(b".")
        if after is not None:
            await after(context)


def crash_at_every_call(folder: Path, mode: CrashMode) -> None:
    """Run the session again and again, each time for one more call, until it completes."""
    asyncio.run(play_session(_make_dir(folder / "0")))  # fills the caches before the forks
    call = 0
    survived = False
    while not survived:
        call += 1
        crash_dir = _make_dir(folder / str(call))
        child = os.fork()
        if child == 0:
            asyncio.run(play_session(crash_dir, CrashingFileSystem(call, mode)))
            os._exit(0)
        survived = os.waitpid(child, 0)[1] == 0


def _make_dir(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    crash_at_every_call(Path(sys.argv[1]), sys.argv[2])  # type: ignore[arg-type]
