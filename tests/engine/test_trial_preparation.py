"""The first command of a session is prepared while the session waits."""

import asyncio
import threading

import pytest

from kimi_tui.permission.secret_file_index import SecretFileIndex
from kimi_tui.wire.commands import Prompt
from kimi_tui.wire.events import TurnEnd
from kimi_tui.wire.requests import ApprovalRequest
from kimi_tui.workspaces.workspaces import Workspaces
from tests.engine.fake_front_end import SessionEnv, bash, script
from tests.timeouts import TEST_TIMEOUT_S


@pytest.fixture
async def trial_home(home: SessionEnv) -> SessionEnv:
    """A session environment in which commands run first; skipped where the system can't do that."""
    workspaces = Workspaces(home.path / "probe")
    problem = await workspaces.find_bounds_problem()
    await workspaces.close()
    if problem:
        pytest.skip(f"no bounded workspaces: {problem}")
    home.runs_first = True
    return home


class PreparationProbe:
    """Notes when the index of secrets has been prepared completely."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done = threading.Event()
        prepare = SecretFileIndex.prepare

        def note(index: SecretFileIndex, *arguments: object) -> bool:
            is_left = prepare(index, *arguments)  # type: ignore[arg-type]
            if not is_left:
                self.done.set()
            return is_left

        monkeypatch.setattr(SecretFileIndex, "prepare", note)

    async def wait(self) -> bool:
        return await asyncio.to_thread(self.done.wait, TEST_TIMEOUT_S)


async def test_a_session_without_a_prompt_prepares_it(
    trial_home: SessionEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = PreparationProbe(monkeypatch)
    async with trial_home.open_session():
        assert await probe.wait()


async def test_it_is_prepared_during_the_first_turn_and_secrets_are_still_asked_about(
    trial_home: SessionEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kimi_tui.engine.session.trial_preparation._DELAY_S", TEST_TIMEOUT_S * 2)
    probe = PreparationProbe(monkeypatch)
    trial_home.file(".env").write_text("PASSWORD=x\n")
    trial_home.script(script(bash("c1", 'python3 -c \'print(open(".e" + "nv").read())\'')), "text: done")
    async with trial_home.open_session() as front:
        front.send(Prompt("go"))
        request = await front.next_approval_request()
        assert await probe.wait()
        assert request.effects is not None
        assert request.effects.secrets
        front.answer(request, "reject")
        await front.wait_for(TurnEnd)


async def test_nothing_is_prepared_where_commands_need_approval_before_they_run(
    home: SessionEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kimi_tui.engine.session.trial_preparation._DELAY_S", 0)
    probe = PreparationProbe(monkeypatch)
    home.script("text: done")
    async with home.open_session() as front:
        await front.turn("go")
        assert not front.of(ApprovalRequest)
    assert not probe.done.is_set()
