"""The clock jumps: what was written by a clock a year ahead is read by one that is right again."""

import json
import os
import time
from pathlib import Path

import pytest

from kimi_tui.base.message import user_message
from kimi_tui.history.context import Context
from kimi_tui.history.session import SessionStore
from tests.history.words import reopened, says

YEAR_S = 365 * 86_400.0
HOUR_S = 3_600.0


def move_clock(journal: Path, seconds: float) -> None:
    """Have everything in `journal` written by a clock that is `seconds` ahead."""
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


async def turn(context: Context, number: int) -> None:
    await context.checkpoint(False, kind="user", label=f"turn {number}")
    await context.append_message(user_message(f"ask {number}"))
    await context.append_step([says(f"answer {number}")], token_count=number)


@pytest.mark.parametrize("jump_s", [YEAR_S, HOUR_S, -HOUR_S])
async def test_checkpoints_keep_their_order_and_their_ids_when_the_clock_jumps(
    context_file: Path, jump_s: float
) -> None:
    before = Context(context_file)
    for number in (0, 1):
        await turn(before, number)
    await before.revert_to(1)
    await turn(before, 2)
    for file in (context_file, context_file.with_name("context.jsonl.1")):
        move_clock(file, jump_s)

    context = await reopened(context_file)
    for number in (3, 4):
        await turn(context, number)
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
    assert [place.checkpoint.id for place in tree.places.values()] == [0, 1, *ids[1:]]
    assert [checkpoint.label for checkpoint in tree.live] == ["turn 0", "turn 2", "turn 3", "turn 4"]
    await context.revert_to(ids[2])
    assert [message.text for message in context.history][-1] == "answer 2"


def use(store: SessionStore, work_dir: Path, *, ahead_s: float) -> str:
    """A session that was last used by a clock that was `ahead_s` ahead."""
    session = store.create(work_dir)
    session.acquire()
    session.dir.mkdir()
    session.context_file.write_text('{"role":"user","content":"hi"}\n')
    session.release()
    os.utime(session.context_file, (time.time() + ahead_s,) * 2)
    return session.id


def test_the_last_session_is_the_one_used_last_though_another_says_it_was_used_next_year(
    tmp_path: Path,
) -> None:
    store = SessionStore(tmp_path / "share")
    future = use(store, tmp_path, ahead_s=YEAR_S)
    old = use(store, tmp_path, ahead_s=-HOUR_S)
    newest = use(store, tmp_path, ahead_s=0)
    last = store.last(tmp_path)
    assert last is not None
    assert last.id == newest
    assert {summary.id for summary in store.list(tmp_path)} == {future, old, newest}
    assert store.list(tmp_path)[-1].id == future
