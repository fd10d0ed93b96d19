"""Sessions: found, listed, forked, deleted, and written by one process at a time."""

import errno
import json
import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_tui.base.content import system_note
from kimi_tui.base.errors import SessionError
from kimi_tui.base.message import Message, user_message
from kimi_tui.base.paths import work_dir_key
from kimi_tui.history.claim import Claim
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.wire.display import TodoItem
from tests.history.disks import FailingDisk
from tests.history.words import reopened, said, says

SHOP = Path("/home/me/shop")
BLOG = Path("/home/me/blog")


@pytest.fixture
def share(tmp_path: Path) -> Path:
    return tmp_path / "share"


@pytest.fixture
def store(share: Path) -> SessionStore:
    return SessionStore(share)


async def a_session(
    store: SessionStore, words: str, *, work_dir: Path = SHOP, used: float | None = None
) -> Session:
    """A session in which something was said, last used at a time."""
    session = store.create(work_dir)
    await Context(session.context_file).append_message(user_message(words))
    if used is not None:
        os.utime(session.context_file, (used, used))
    return session


def titles(store: SessionStore, work_dir: Path | None = None) -> list[str]:
    return [summary.title for summary in store.list(work_dir)]


def test_a_new_session_is_not_on_disk(store, share):
    store.create(SHOP)
    assert not share.exists()
    assert store.list() == ()
    assert store.last(SHOP) is None


async def test_a_session_lies_where_its_work_dir_says(store, share):
    session = await a_session(store, "hi")
    await session.update_state(title="Greetings")
    assert session.dir == share / "sessions" / work_dir_key(SHOP) / session.id
    assert {path.name for path in session.dir.iterdir()} == {"context.jsonl", "state.json"}
    assert session.wire_file == session.dir / "wire.jsonl"
    for path in (session.dir, *session.dir.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


async def test_a_session_in_which_nothing_was_said_is_not_listed(store):
    session = store.create(SHOP)
    session.acquire()
    await session.update_state(yolo=True)
    session.release()
    assert store.list() == ()


async def test_the_session_last_used_is_the_last_one_however_it_ended(store):
    old = await a_session(store, "old", used=1_000)
    new = await a_session(store, "new", used=2_000)
    await a_session(store, "elsewhere", work_dir=BLOG, used=3_000)
    assert store.last(SHOP).id == new.id
    await (await reopened(old.context_file)).append_message(says("again"))
    assert store.last(SHOP).id == old.id


async def test_a_session_whose_process_was_killed_is_found_again(store, share):
    """Rule 9."""
    await a_session(store, "before", used=1_000)
    program = f"""
import asyncio, os, signal
from pathlib import Path
from kimi_tui.base.message import user_message
from kimi_tui.history.context import Context
from kimi_tui.history.session import SessionStore

async def main():
    session = SessionStore(Path({str(share)!r})).create(Path({str(SHOP)!r}))
    session.acquire()
    await Context(session.context_file).append_message(user_message("interrupted"))
    print(session.id, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
    died = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    last = store.last(SHOP)
    assert last.id == died.stdout.strip()
    last.acquire()
    assert said(await reopened(last.context_file)) == ["interrupted"]
    assert titles(store) == ["interrupted", "before"]
    assert store.find(last.id).work_dir == SHOP
    last.release()


async def test_sessions_are_listed_last_used_first_for_one_work_dir_or_all(store):
    await a_session(store, "one", used=1_000)
    await a_session(store, "three", used=3_000)
    await a_session(store, "two", work_dir=BLOG, used=2_000)
    assert titles(store) == ["three", "two", "one"]
    assert titles(store, SHOP) == ["three", "one"]
    assert titles(store, Path("/nowhere")) == []


async def test_listing_reads_the_index_and_not_the_journals(store):
    session = await a_session(store, "the first words")
    await session.update_state(title="A title")
    session.context_file.write_text("damaged")
    (session.dir / "state.json").write_text("damaged")
    assert titles(store) == ["A title"]


@pytest.mark.parametrize("index", [None, b"", b"damaged\n{}\n7\n", b'{"id":"'], ids=repr)
async def test_a_lost_or_damaged_index_is_made_again(store, index):
    session = await a_session(store, "the first words")
    await session.update_state(title="A title")
    untitled = await a_session(store, "only words", used=1_000)
    path = session.dir.parent / "index.jsonl"
    if index is None:
        path.unlink()
    else:
        path.write_bytes(index)
    for _ in range(2):
        assert titles(store) == ["A title", "only words"]
        assert [summary.work_dir for summary in store.list()] == [SHOP, None]
        assert [summary.work_dir for summary in store.list(SHOP)] == [SHOP, SHOP]
    assert store.find(session.id).work_dir == SHOP
    with pytest.raises(SessionError, match="which folder") as raised:
        store.find(untitled.id)
    assert "--continue" in raised.value.hint


async def test_a_session_without_a_title_is_listed_by_what_the_user_said_first(store):
    session = store.create(SHOP)
    context = Context(session.context_file)
    await context.append_message(
        [Message("user", (system_note("CHECKPOINT 0"),)), user_message("fix\n the \x1b[31mform")]
    )
    assert titles(store) == ["fix the form"]


async def test_a_session_is_found_by_its_id_or_the_beginning_of_it(store):
    session = await a_session(store, "hi")
    session.acquire()
    session.release()
    assert store.find(session.id).dir == session.dir
    assert store.find(session.id[:8]).dir == session.dir


async def test_an_unknown_id_names_sessions_that_are_near(store):
    with pytest.raises(SessionError, match="no session “zzz”") as raised:
        store.find("zzz")
    assert "no sessions yet" in raised.value.hint
    session = await a_session(store, "fix the login form")
    await a_session(store, "unrelated")
    for wanted in (session.id[:-1] + "g", "login"):
        with pytest.raises(SessionError, match="There is no session") as raised:
            store.find(wanted)
        assert session.id in raised.value.hint
        assert "unrelated" not in raised.value.hint
    with pytest.raises(SessionError) as raised:
        store.find("../../etc")
    assert "The newest are" in raised.value.hint


async def test_a_beginning_that_several_ids_have_names_them(store):
    for name in ("abc1", "abc2"):
        session = Session(store.create(SHOP).dir.with_name(name), SHOP)
        await Context(session.context_file).append_message(user_message(f"words of {name}"))
    with pytest.raises(SessionError, match="Several sessions begin with “abc”") as raised:
        store.find("abc")
    assert "words of abc1" in raised.value.hint
    assert "words of abc2" in raised.value.hint


async def test_a_state_is_remembered(store):
    session = await a_session(store, "hi")
    todos = (TodoItem("reproduce", "done"), TodoItem("fix"))
    await session.update_state(title="Login", todos=todos, grants=("Bash(ls *)",), additional_dirs=("/data",))
    await session.update_state(plan_mode=True, model="kimi")
    again = store.last(SHOP)
    assert again.state == session.state
    assert (again.state.title, again.state.todos, again.state.grants) == ("Login", todos, ("Bash(ls *)",))
    assert (again.state.plan_mode, again.state.yolo, again.state.model) == (True, False, "kimi")
    assert again.problem == ""


async def test_a_state_of_a_later_version_is_read_as_far_as_it_is_known(store):
    session = await a_session(store, "hi")
    (session.dir / "state.json").write_text(json.dumps({"title": "Login", "mood": "good"}))
    assert store.last(SHOP).state.title == "Login"


async def test_a_damaged_state_begins_anew_and_is_kept_aside(store):
    session = await a_session(store, "hi")
    (session.dir / "state.json").write_text('{"title": "Log')
    again = store.last(SHOP)
    assert again.state.title == ""
    assert "state.json" in again.problem
    await again.update_state(title="New")
    assert again.problem == ""
    assert (session.dir / "state.json.damaged").read_text() == '{"title": "Log'
    assert store.last(SHOP).state.title == "New"


@pytest.mark.parametrize("call", ["open", "write", "fsync", "rename"])
async def test_a_state_that_the_disk_refuses_is_not_in_memory_either(share, call):
    disk = FailingDisk(error=errno.ENOSPC)
    session = SessionStore(share, disk=disk).create(SHOP)
    await session.update_state(title="One")
    disk.refused = {call}
    with pytest.raises(SessionError, match="state can't be saved"):
        await session.update_state(title="Two")
    assert session.state.title == "One"
    assert Session(session.dir, SHOP).state.title == "One"


async def test_a_fork_goes_on_alone_with_everything_the_session_had(store):
    session = await a_session(store, "hi", used=1_000)
    await session.update_state(title="Login", grants=("Bash(ls *)",))
    context = await reopened(session.context_file)
    await context.clear()
    await context.append_message(user_message("anew"))
    session.wire_file.write_text("{}\n")
    (session.dir / "subagents" / "1").mkdir(parents=True)
    fork = store.fork(session)
    assert fork.id != session.id
    assert (fork.state.title, fork.state.grants) == ("Login (fork)", ("Bash(ls *)",))
    assert fork.wire_file.read_text() == "{}\n"
    assert (fork.dir / "subagents" / "1").is_dir()
    copy = await reopened(fork.context_file)
    await copy.append_message(user_message("here only"))
    assert said(copy) == ["anew", "here only"]
    assert [message.text for message in (await copy.read_branch(1)).history] == ["hi"]
    assert said(await reopened(session.context_file)) == ["anew"]
    assert stat.S_IMODE(fork.context_file.stat().st_mode) == 0o600
    store.delete(session)
    assert [message.text for message in (await copy.read_branch(1)).history] == ["hi"]
    assert titles(store) == ["Login (fork)"]


def test_a_session_in_which_nothing_was_said_forks_into_a_new_one(store, share):
    session = store.create(SHOP)
    assert store.fork(session).id != session.id
    assert not share.exists()


async def test_a_fork_that_the_disk_refuses_leaves_nothing(store, share):
    session = await a_session(store, "hi")
    before = sorted(share.rglob("*"))
    with pytest.raises(SessionError, match="can't be copied"):
        SessionStore(share, disk=FailingDisk("rename")).fork(session)
    assert sorted(share.rglob("*")) == before


async def test_a_deleted_session_is_gone(store):
    session = await a_session(store, "hi")
    store.delete(session)
    assert store.list() == ()
    assert not session.dir.exists()


async def test_a_session_has_one_writer(store):
    session = await a_session(store, "hi")
    session.acquire()
    session.acquire()
    other = store.last(SHOP)
    with pytest.raises(SessionError, match=f"pid {os.getpid()}") as raised:
        other.acquire()
    assert "--fork" in raised.value.hint
    with pytest.raises(SessionError):
        store.delete(other)
    assert session.dir.exists()
    session.release()
    session.release()
    other.acquire()
    other.release()


async def test_the_claim_of_a_process_that_was_killed_is_taken_over(store):
    session = await a_session(store, "hi")
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys\nfrom pathlib import Path\nfrom kimi_tui.history.session import Session\n"
            "session = Session(Path(sys.argv[1]), Path('/'))\nsession.acquire()\nprint('held', flush=True)\n"
            "sys.stdin.read()",
            session.dir,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(SessionError, match=f"pid {holder.pid}"):
            session.acquire()
        holder.kill()
    session.acquire()
    session.release()


def test_a_share_dir_that_can_not_be_written_is_said_in_a_sentence(tmp_path):
    (tmp_path / "share").write_text("a file")
    with pytest.raises(SessionError, match="can't be opened") as raised:
        SessionStore(tmp_path / "share").create(SHOP).acquire()
    assert "KIMI_SHARE_DIR" in raised.value.hint


def no_locks(file: int, *, shared: bool = False, waits: bool = False) -> None:
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the number alone tells")
def test_where_there_are_no_locks_a_process_that_runs_keeps_its_session(tmp_path):
    """As on some network file systems."""
    path = tmp_path / "locks" / "id"
    path.parent.mkdir()
    claim = Claim(path, lock=no_locks)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with other:
        began = Path(f"/proc/{other.pid}/stat").read_text().rpartition(")")[2].split()[19]
        path.write_text(f"{other.pid} {began}\n")
        assert claim.is_held()
        with pytest.raises(SessionError, match=f"pid {other.pid}"):
            claim.acquire()
        path.write_text(f"{other.pid} 1\n")  # an earlier process of that number
        assert not claim.is_held()
        path.write_text(f"{other.pid} {began}\n")
        other.kill()
    claim.acquire()
    assert claim.is_held()
    assert path.read_text().startswith(f"{os.getpid()} ")
    claim.release()
    assert not path.exists()
    assert not claim.is_held()


def test_a_mark_that_makes_no_sense_claims_nothing(tmp_path):
    path = tmp_path / "id"
    for mark in (b"", b"\xff\xfe", b"-1 5", b"-1", b"99999999999999999999 1", b"0"):
        path.write_bytes(mark)
        claim = Claim(path, lock=no_locks)
        claim.acquire()
        claim.release()


def test_a_disk_with_no_room_left_is_told_from_a_folder_that_can_not_be_written(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(SessionError) as caught:
            Claim(tmp_path / "session" / "lock").acquire()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.hint.startswith("Free some space")
