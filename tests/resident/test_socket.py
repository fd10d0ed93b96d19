"""The socket of the resident engine: only its owner gets in, and there is one engine."""

import asyncio
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.resident import session_host
from kimi_tui.resident.connection import send_hello
from kimi_tui.resident.frames import Hello
from kimi_tui.resident.serve import EngineRunning, is_engine_locked, listen_for_clients
from kimi_tui.resident.socket_path import MAX_SOCKET_PATH_BYTES, engine_dir, socket_path
from kimi_tui.wire.commands import Prompt
from kimi_tui.wire.events import ApprovalResponse, TurnBegin
from kimi_tui.wire.requests import ApprovalRequest
from tests.resident.conftest import VERSION, ResidentEngine


def test_only_the_owner_can_open_the_socket(data_dir: Path) -> None:
    with listen_for_clients(data_dir):
        path = socket_path(data_dir)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_directory_that_others_can_access_is_refused(data_dir: Path) -> None:
    (data_dir / "resident").mkdir(mode=0o755)
    with pytest.raises(KimiTuiError, match="Other users"):
        engine_dir(data_dir)


def test_a_link_instead_of_the_directory_is_refused(data_dir: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (data_dir / "resident").symlink_to(tmp_path)
    with pytest.raises(KimiTuiError, match="Other users"):
        engine_dir(data_dir)


def test_a_long_path_gets_a_short_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        monkeypatch.setattr(tempfile, "tempdir", temporary)
        path = socket_path(tmp_path / ("long" * 30))
        assert len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_there_is_one_engine(data_dir: Path) -> None:
    with listen_for_clients(data_dir):
        with pytest.raises(EngineRunning), listen_for_clients(data_dir):
            pass
        assert socket_path(data_dir).exists()


def test_the_lock_tells_whether_an_engine_runs(data_dir: Path) -> None:
    assert not is_engine_locked(data_dir)
    with listen_for_clients(data_dir):
        assert is_engine_locked(data_dir)
    assert not is_engine_locked(data_dir)


def test_the_socket_of_a_killed_engine_is_replaced(data_dir: Path) -> None:
    socket_path(data_dir).touch()
    with listen_for_clients(data_dir):
        assert stat.S_ISSOCK(socket_path(data_dir).stat().st_mode)
    assert not socket_path(data_dir).exists()


async def test_the_engine_listens_again_after_its_socket_was_deleted(
    engine: ResidentEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_host, "_SOCKET_CHECK_S", 0.02)
    client, session = await engine.open()
    asking = asyncio.ensure_future(session.wire.ask(ApprovalRequest("r-1", "c-1", "Bash", "run", "ls")))
    await client.wait_for_request()
    for _ in range(2):
        shutil.rmtree(engine_dir(engine.data_dir))
        with pytest.raises(EngineRunning), listen_for_clients(engine.data_dir):
            pass
        async with asyncio.timeout(20):
            while not socket_path(engine.data_dir).exists():
                await asyncio.sleep(0.01)
    second = await engine.attach()
    request = await second.wait_for_request()
    second.answer(ApprovalResponse(request.id, "approve"))
    assert await asking == ApprovalResponse("r-1", "approve")
    client.wire.command(Prompt("still here"))  # the connection from before
    await client.wait_for(TurnBegin("still here"))


async def test_a_deleted_data_directory_is_not_created_again(
    engine: ResidentEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_host, "_SOCKET_CHECK_S", 0.01)
    client, _ = await engine.open()
    shutil.rmtree(engine.data_dir)
    client.wire.command(Prompt("hello"))
    await client.wait_for(TurnBegin("hello"))
    await asyncio.sleep(0.1)
    assert not engine.data_dir.exists()
    engine.data_dir.mkdir()


async def test_another_user_learns_nothing(engine: ResidentEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_host, "peer_uid", lambda _: os.getuid() + 1)
    with pytest.raises(KimiTuiError, match="didn't answer"):
        await send_hello(engine.data_dir, Hello(version=VERSION, request="list"))
