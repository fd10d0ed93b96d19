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

from kimi_tui.base.content_parts import system_note
from kimi_tui.base.errors import SessionError
from kimi_tui.base.message import Message, user_message
from kimi_tui.base.paths import work_dir_key
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.session_index import SessionIndex
from kimi_tui.history.session_lock import SessionLock
from kimi_tui.wire.display_blocks import TodoItem
from tests.history.file_systems import FailingFileSystem
from tests.history.messages import assistant_message, history_texts, reopen

SHOP = Path("/home/me/shop")
BLOG = Path("/home/me/blog")


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data_dir"


@pytest.fixture
def store(data_dir: Path) -> SessionStore:
    return SessionStore(data_dir)


async def create_session(
    store: SessionStore, prompt: str, *, work_dir: Path = SHOP, used: float | None = None
) -> Session:
    """Create a session with one message, optionally last used at a given time."""
    session = store.create(work_dir)
    await Context(session.context_file).append_message(user_message(prompt))
    if used is not None:
        os.utime(session.context_file, (used, used))
    return session


def session_titles(store: SessionStore, work_dir: Path | None = None) -> list[str]:
    return [summary.title for summary in store.list(work_dir)]


def test_a_new_session_is_not_on_disk(store, data_dir):
    store.create(SHOP)
    assert not data_dir.exists()
    assert store.list() == ()
    assert store.latest(SHOP) is None


async def test_the_directory_of_a_session_depends_on_its_working_directory(store, data_dir):
    session = await create_session(store, "hi")
    await session.update_state(title="Greetings")
    assert session.dir == data_dir / "tui-sessions" / work_dir_key(SHOP) / session.id
    assert {path.name for path in session.dir.iterdir()} == {"context.jsonl", "state.json"}
    assert session.wire_file == session.dir / "wire.jsonl"
    for path in (session.dir, *session.dir.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


async def test_a_session_without_messages_is_not_listed(store):
    session = store.create(SHOP)
    session.acquire()
    await session.update_state(yolo=True)
    session.release()
    assert store.list() == ()


async def test_the_latest_session_is_the_one_last_written_to(store):
    old = await create_session(store, "old", used=1_000)
    new = await create_session(store, "new", used=2_000)
    await create_session(store, "elsewhere", work_dir=BLOG, used=3_000)
    assert store.latest(SHOP).id == new.id
    await (await reopen(old.context_file)).append_message(assistant_message("reopened"))
    assert store.latest(SHOP).id == old.id


async def test_a_session_whose_process_was_killed_is_found_again(store, data_dir):

    await create_session(store, "before", used=1_000)
    program = f"""
import asyncio, os, signal
from pathlib import Path
from kimi_tui.base.message import user_message
from kimi_tui.history.context import Context
from kimi_tui.history.session import SessionStore

async def main():
    session = SessionStore(Path({str(data_dir)!r})).create(Path({str(SHOP)!r}))
    session.acquire()
    await Context(session.context_file).append_message(user_message("interrupted"))
    print(session.id, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert process.returncode == -signal.SIGKILL, process.stderr
    last = store.latest(SHOP)
    assert last.id == process.stdout.strip()
    last.acquire()
    assert history_texts(await reopen(last.context_file)) == ["interrupted"]
    assert session_titles(store) == ["interrupted", "before"]
    assert store.find(last.id).work_dir == SHOP
    last.release()


async def test_sessions_are_listed_last_used_first_for_one_working_directory_or_all(store):
    await create_session(store, "one", used=1_000)
    await create_session(store, "three", used=3_000)
    await create_session(store, "two", work_dir=BLOG, used=2_000)
    assert session_titles(store) == ["three", "two", "one"]
    assert session_titles(store, SHOP) == ["three", "one"]
    assert session_titles(store, Path("/nowhere")) == []


async def test_listing_reads_the_index_and_not_the_journals(store):
    session = await create_session(store, "the first prompt")
    await session.update_state(title="A title")
    session.context_file.write_text("damaged")
    (session.dir / "state.json").write_text("damaged")
    assert session_titles(store) == ["A title"]


@pytest.mark.parametrize("index", [None, b"", b"damaged\n{}\n7\n", b'{"id":"'], ids=repr)
async def test_a_lost_or_damaged_index_is_rebuilt(store, index):
    session = await create_session(store, "the first prompt")
    await session.update_state(title="A title")
    untitled = await create_session(store, "only prompt", used=1_000)
    path = session.dir.parent / "index.jsonl"
    if index is None:
        path.unlink()
    else:
        path.write_bytes(index)
    for _ in range(2):
        assert session_titles(store) == ["A title", "only prompt"]
        assert [summary.work_dir for summary in store.list()] == [SHOP, None]
        assert [summary.work_dir for summary in store.list(SHOP)] == [SHOP, SHOP]
    assert store.find(session.id).work_dir == SHOP
    with pytest.raises(SessionError, match="working directory") as raised:
        store.find(untitled.id)
    assert "--continue" in raised.value.hint


async def test_a_session_without_a_title_is_listed_by_its_first_prompt(store):
    session = store.create(SHOP)
    context = Context(session.context_file)
    await context.append_message(
        [Message("user", (system_note("CHECKPOINT 0"),)), user_message("fix\n the \x1b[31mform")]
    )
    assert session_titles(store) == ["fix the form"]


async def test_a_session_is_found_by_its_id_or_a_prefix(store):
    session = await create_session(store, "hi")
    session.acquire()
    session.release()
    assert store.find(session.id).dir == session.dir
    assert store.find(session.id[:8]).dir == session.dir


async def test_the_error_for_an_unknown_id_suggests_similar_sessions(store):
    with pytest.raises(SessionError, match="Session “zzz” doesn't exist") as raised:
        store.find("zzz")
    assert "No sessions yet" in raised.value.hint
    session = await create_session(store, "fix the login form")
    await create_session(store, "unrelated")
    for query in (session.id[:-1] + "g", "login"):
        with pytest.raises(SessionError, match="doesn't exist") as raised:
            store.find(query)
        assert session.id in raised.value.hint
        assert "unrelated" not in raised.value.hint
    with pytest.raises(SessionError) as raised:
        store.find("../../etc")
    assert "Newest sessions" in raised.value.hint


async def test_the_error_for_an_ambiguous_prefix_lists_the_matches(store):
    for name in ("abc1", "abc2"):
        session = Session(store.create(SHOP).dir.with_name(name), SHOP)
        await Context(session.context_file).append_message(user_message(f"prompt of {name}"))
    with pytest.raises(SessionError, match="Several session IDs start with “abc”") as raised:
        store.find("abc")
    assert "prompt of abc1" in raised.value.hint
    assert "prompt of abc2" in raised.value.hint


async def test_the_state_is_saved(store):
    session = await create_session(store, "hi")
    todos = (TodoItem("reproduce", "done"), TodoItem("fix"))
    await session.update_state(title="Login", todos=todos, grants=("Bash(ls *)",), additional_dirs=("/data",))
    await session.update_state(plan_mode=True, model="kimi")
    reopened = store.latest(SHOP)
    assert reopened.state == session.state
    assert (reopened.state.title, reopened.state.todos, reopened.state.grants) == (
        "Login",
        todos,
        ("Bash(ls *)",),
    )
    assert (reopened.state.plan_mode, reopened.state.yolo, reopened.state.model) == (True, False, "kimi")
    assert reopened.problem == ""


async def test_unknown_fields_of_a_state_are_ignored(store):
    session = await create_session(store, "hi")
    (session.dir / "state.json").write_text(json.dumps({"title": "Login", "mood": "good"}))
    assert store.latest(SHOP).state.title == "Login"


async def test_a_damaged_state_is_reset_and_its_file_kept(store):
    session = await create_session(store, "hi")
    (session.dir / "state.json").write_text('{"title": "Log')
    reopened = store.latest(SHOP)
    assert reopened.state.title == ""
    assert "state.json" in reopened.problem
    await reopened.update_state(title="New")
    assert reopened.problem == ""
    assert (session.dir / "state.json.damaged").read_text() == '{"title": "Log'
    assert store.latest(SHOP).state.title == "New"


@pytest.mark.parametrize("call", ["open", "write", "fsync", "rename"])
async def test_a_state_that_cannot_be_saved_is_not_changed_in_memory(data_dir, call):
    fs = FailingFileSystem(error=errno.ENOSPC)
    session = SessionStore(data_dir, fs=fs).create(SHOP)
    await session.update_state(title="One")
    fs.failing_calls = {call}
    with pytest.raises(SessionError, match="Can't save the session state"):
        await session.update_state(title="Two")
    assert session.state.title == "One"
    assert Session(session.dir, SHOP).state.title == "One"


async def test_a_fork_has_the_whole_session_and_is_independent_of_it(store):
    session = await create_session(store, "hi", used=1_000)
    await session.update_state(title="Login", grants=("Bash(ls *)",))
    context = await reopen(session.context_file)
    await context.clear()
    await context.append_message(user_message("new"))
    session.wire_file.write_text("{}\n")
    (session.dir / "subagents" / "1").mkdir(parents=True)
    fork = store.fork(session)
    assert fork.id != session.id
    assert (fork.state.title, fork.state.grants) == ("Login (fork)", ("Bash(ls *)",))
    assert fork.wire_file.read_text() == "{}\n"
    assert (fork.dir / "subagents" / "1").is_dir()
    copy = await reopen(fork.context_file)
    await copy.append_message(user_message("here only"))
    assert history_texts(copy) == ["new", "here only"]
    assert [message.text for message in (await copy.read_branch(1)).history] == ["hi"]
    assert history_texts(await reopen(session.context_file)) == ["new"]
    assert stat.S_IMODE(fork.context_file.stat().st_mode) == 0o600
    store.delete(session)
    assert [message.text for message in (await copy.read_branch(1)).history] == ["hi"]
    assert session_titles(store) == ["Login (fork)"]


def test_forking_a_session_without_messages_creates_a_new_one(store, data_dir):
    session = store.create(SHOP)
    assert store.fork(session).id != session.id
    assert not data_dir.exists()


async def test_a_failed_fork_leaves_nothing(store, data_dir):
    session = await create_session(store, "hi")
    before = sorted(data_dir.rglob("*"))
    with pytest.raises(SessionError, match="Can't fork"):
        SessionStore(data_dir, fs=FailingFileSystem("rename")).fork(session)
    assert sorted(data_dir.rglob("*")) == before


async def test_a_deleted_session_is_gone(store):
    session = await create_session(store, "hi")
    store.delete(session)
    assert store.list() == ()
    assert not session.dir.exists()


async def test_a_session_has_one_writer(store):
    session = await create_session(store, "hi")
    session.acquire()
    session.acquire()
    other = store.latest(SHOP)
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


async def test_the_lock_of_a_killed_process_can_be_taken(store):
    session = await create_session(store, "hi")
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


def test_an_unwritable_data_directory_is_a_session_error(tmp_path):
    (tmp_path / "data_dir").write_text("a file")
    with pytest.raises(SessionError, match="Can't open") as raised:
        SessionStore(tmp_path / "data_dir").create(SHOP).acquire()
    assert "KIMI_SHARE_DIR" in raised.value.hint


def no_locks(file: int, *, shared: bool = False, waits: bool = False) -> None:
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the mark is only the process id")
def test_without_file_locks_a_running_process_keeps_its_session(tmp_path):
    """Some network file systems have no locks."""
    path = tmp_path / "locks" / "id"
    path.parent.mkdir()
    lock = SessionLock(path, lock=no_locks)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with other:
        start_time = Path(f"/proc/{other.pid}/stat").read_text().rpartition(")")[2].split()[19]
        path.write_text(f"{other.pid} {start_time}\n")
        assert lock.is_held()
        with pytest.raises(SessionError, match=f"pid {other.pid}"):
            lock.acquire()
        path.write_text(f"{other.pid} 1\n")  # an earlier process with the same id
        assert not lock.is_held()
        path.write_text(f"{other.pid} {start_time}\n")
        other.kill()
    lock.acquire()
    assert lock.is_held()
    assert path.read_text().startswith(f"{os.getpid()} ")
    lock.release()
    assert not path.exists()
    assert not lock.is_held()


def test_an_invalid_process_mark_holds_no_lock(tmp_path):
    path = tmp_path / "id"
    for mark in (b"", b"\xff\xfe", b"-1 5", b"-1", b"99999999999999999999 1", b"0"):
        path.write_bytes(mark)
        lock = SessionLock(path, lock=no_locks)
        lock.acquire()
        lock.release()


def test_the_hint_for_a_full_disk_differs_from_that_for_an_unwritable_directory(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(SessionError) as raised:
            SessionLock(tmp_path / "session" / "lock").acquire()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert raised.value.hint.startswith("Free some disk space")


def test_a_title_that_was_saved_after_the_index_entry_is_listed(tmp_path: Path) -> None:
    folder = tmp_path / work_dir_key(tmp_path)
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "context.jsonl").write_text('{"role": "user", "content": "first"}\n')
    index = SessionIndex(folder)
    index.record("a", work_dir=tmp_path, title="old", updated=1000.0)
    state = folder / "a" / "state.json"
    state.write_text(json.dumps({"title": "new", "work_dir": str(tmp_path)}))
    for modified, title in ((1001.0, "old"), (1010.0, "new"), (1010.0, "new")):
        os.utime(state, (modified, modified))
        assert [it.title for it in index.summaries()] == [title]
    lines = (folder / "index.jsonl").read_text().splitlines()
    assert len(lines) == 2  # completed once
