"""Clocks that jump: data written by a clock that was wrong is read by one that is right."""

import json
import os
import time
from pathlib import Path

import pytest

from kimi_tui.base.message import user_message
from kimi_tui.history.context import Context
from kimi_tui.history.session import SessionStore
from tests.history.messages import assistant_message, reopen

YEAR_S = 365 * 86_400.0
HOUR_S = 3_600.0


def move_clock(journal: Path, seconds: float) -> None:
    """Change `journal` as if it had been written by a clock that is `seconds` ahead."""
    lines = []
    for line in journal.read_text().splitlines():
        record = json.loads(line)
        if "time" in record:
            record["time"] += seconds
        if "uid" in record:
            record["uid"] = f"{int(record['uid'][:12], 16) + int(seconds * 1000):012x}{record['uid'][12:]}"
        if "parent" in record:
            record["parent"] = (
                f"{int(record['parent'][:12], 16) + int(seconds * 1000):012x}{record['parent'][12:]}"
            )
        lines.append(json.dumps(record))
    journal.write_text("\n".join(lines) + "\n")


async def run_turn(context: Context, number: int) -> None:
    await context.checkpoint(False, kind="user", label=f"turn {number}")
    await context.append_message(user_message(f"ask {number}"))
    await context.append_step([assistant_message(f"answer {number}")], token_count=number)


@pytest.mark.parametrize("jump_s", [YEAR_S, HOUR_S, -HOUR_S])
async def test_checkpoints_keep_their_order_and_ids_when_the_clock_jumps(
    context_file: Path, jump_s: float
) -> None:
    before = Context(context_file)
    for number in (0, 1):
        await run_turn(before, number)
    await before.revert_to(1)
    await run_turn(before, 2)
    for file in (context_file, context_file.with_name("context.jsonl.1")):
        move_clock(file, jump_s)

    context = await reopen(context_file)
    for number in (3, 4):
        await run_turn(context, number)
    assert [checkpoint.label for checkpoint in context.checkpoints] == [
        "turn 0",
        "turn 2",
        "turn 3",
        "turn 4",
    ]
    ids = [checkpoint.id for checkpoint in context.checkpoints]
    assert ids == sorted(set(ids))
    uids = [checkpoint.uid for checkpoint in context.checkpoints]
    assert len(set(uids)) == len(uids)
    assert [checkpoint.parent for checkpoint in context.checkpoints[2:]] == uids[1:-1]
    tree = await context.tree()
    assert [node.checkpoint.id for node in tree.nodes.values()] == [0, 1, *ids[1:]]
    assert [checkpoint.label for checkpoint in tree.current_branch] == [
        "turn 0",
        "turn 2",
        "turn 3",
        "turn 4",
    ]
    await context.revert_to(ids[2])
    assert [message.text for message in context.history][-1] == "answer 2"


def create_used_session(store: SessionStore, work_dir: Path, *, ahead_s: float) -> str:
    """Create a session that was last used by a clock that was `ahead_s` ahead. Return its id."""
    session = store.create(work_dir)
    session.acquire()
    session.dir.mkdir()
    session.context_file.write_text('{"role":"user","content":"hi"}\n')
    session.release()
    os.utime(session.context_file, (time.time() + ahead_s,) * 2)
    return session.id


def test_a_session_with_a_time_in_the_future_is_not_the_latest(
    tmp_path: Path,
) -> None:
    store = SessionStore(tmp_path / "share")
    future = create_used_session(store, tmp_path, ahead_s=YEAR_S)
    old = create_used_session(store, tmp_path, ahead_s=-HOUR_S)
    newest = create_used_session(store, tmp_path, ahead_s=0)
    latest = store.latest(tmp_path)
    assert latest is not None
    assert latest.id == newest
    assert {summary.id for summary in store.list(tmp_path)} == {future, old, newest}
    assert store.list(tmp_path)[-1].id == future
