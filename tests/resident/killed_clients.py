"""Client processes of a resident engine that are killed at random: started by `rounds`.

    python -m tests.resident.killed_clients DATA_DIR COUNT

Each client is a process of its own, forked after the imports, so that a thousand take a minute.
"""

import asyncio
import os
import random
import signal
import sys
import time
from pathlib import Path

from kimi_tui.resident.remote_engine import RemoteEngine
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import ListSessions, SetPlanMode, ShowTimeline
from kimi_tui.wire.events import ApprovalResponse
from kimi_tui.wire.requests import ApprovalRequest
from tests.resident.conftest import VERSION


async def _take_part(data_dir: Path, seed: int) -> None:
    """Read, send commands and answer requests until this process is killed."""
    chance, wire = random.Random(seed), Wire()
    subscription = wire.subscribe(merges=False)
    engine = RemoteEngine(data_dir=data_dir, version=VERSION, options={"session": "s-1"})
    serving = asyncio.ensure_future(engine.serve(wire))
    async for message in subscription:
        if isinstance(message, ApprovalRequest) and chance.random() < 0.5:
            wire.answer(ApprovalResponse(message.id, "approve"))
        elif chance.random() < 0.1:
            wire.command(chance.choice([SetPlanMode(True), ShowTimeline(), ListSessions("")]))
    await serving


def main() -> None:
    """Fork, kill and reap the clients, up to four at a time."""
    data_dir, count = Path(sys.argv[1]), int(sys.argv[2])
    chance = random.Random(4)
    running: list[int] = []
    for number in range(count):
        if (pid := os.fork()) == 0:
            asyncio.run(_take_part(data_dir, number))
            os._exit(1)  # it was to be killed
        running.append(pid)
        time.sleep(chance.random() * 0.03)
        if len(running) == 4 or number == count - 1:
            for client in chance.sample(running, len(running) if number == count - 1 else 2):
                running.remove(client)
                os.kill(client, signal.SIGKILL)
                assert os.waitstatus_to_exitcode(os.waitpid(client, 0)[1]) == -signal.SIGKILL


if __name__ == "__main__":
    main()
