"""Attacks with real programs: after "a" for a harmless command, nothing that wasn't shown takes effect.

The effects are read from the file system: no file PWN in the project, no secret in what the model sees.
"""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from kimi_tui.wire.commands import Prompt
from kimi_tui.wire.events import TurnEnd
from kimi_tui.wire.requests import ApprovalRequest
from tests.e2e.processes import is_alive
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, call, script
from tests.engine.real_attacks import (
    SLOW,
    create_attacked_project,
    find_markers,
    find_missing,
    program_path,
    read_attacks,
    run_unrestricted,
)
from tests.engine.test_run_first import trial_home
from tests.timeouts import TEST_TIMEOUT_S

__all__ = ["trial_home"]

RUN_BY_DEFAULT = 4
"""How many commands of a group run first, except in `make faults`. All of them are asked about."""
RUNS_ALL = "KIMI_TUI_ALL_ATTACKS" in os.environ
ATTACKS = read_attacks("real_attacks.txt")
SECRET_READS = read_attacks("secret_reads.txt")["reads"]
DENIED = read_attacks("denied.txt")
SECRET = "hidden-value-42"
SECRET_FILES = (
    ".env", "conf/.env.local", "prod.tfvars.json", "id_rsa", "service-account.json", "home/.bash_history",
    "home/.zsh_history", "home/.password-store/mail.gpg", "home/.config/rclone/rclone.conf",
    "home/.terraformrc",
    "home/.mozilla/firefox/x.default/logins.json", "home/.local/share/keyrings/login.keyring", "home/.netrc",
    "home/.aws/credentials", "home/.ssh/id_ed25519", "home/.config/gh/hosts.yml",
)  # fmt: skip


def install(home: SessionEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", program_path())
    monkeypatch.setenv("EVIL", "touch PWN;:")
    monkeypatch.setenv("MY_SECRET", SECRET)
    create_attacked_project(home.work_dir)


async def run_calls(home: SessionEnv, front: FakeFrontEnd, *, allowed: str = "") -> list[ApprovalRequest]:
    """Run a turn; allow the call `allowed` for the session, and reject all others."""
    asked: list[ApprovalRequest] = []
    front.send(Prompt("go"))
    while True:
        event = await front.wait_for(object, where=lambda it: isinstance(it, ApprovalRequest | TurnEnd))
        if not isinstance(event, ApprovalRequest):
            return asked
        if event.tool_call_id == allowed:
            front.answer(event, "approve_for_session" if event.rule else "approve")
        else:
            asked.append(event)
            front.answer(event, "reject", "no")


def groups() -> list[str]:
    return [granted for granted in ATTACKS if RUNS_ALL or not granted.startswith(SLOW)]


@pytest.mark.parametrize("runs_first", [True, False], ids=["runs first", "asks first"])
async def test_no_attack_takes_effect_after_a_grant(
    trial_home: SessionEnv, runs_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(trial_home, monkeypatch)
    trial_home.runs_first = runs_first
    succeeded: list[str] = []
    for number, granted in enumerate(groups()):
        if find_missing(granted) and (runs_first or not RUNS_ALL):
            continue
        attacks = ATTACKS[granted][: None if RUNS_ALL or not runs_first else RUN_BY_DEFAULT]
        calls = [script(bash(f"g{number}a{index}", attack)) for index, attack in enumerate(attacks)]
        trial_home.script(script(bash("granted", granted)), *calls, "text: done")
        async with trial_home.open_session() as front:
            await run_calls(trial_home, front, allowed="granted")
            ran = {name for name, result in front.results.items() if not result.return_value.is_error}
        for marker in find_markers(trial_home.work_dir):
            succeeded.append(granted)
            shutil.rmtree(marker) if marker.is_dir() else marker.unlink()
        if not runs_first:
            succeeded += [attack for index, attack in enumerate(attacks) if f"g{number}a{index}" in ran]
    assert succeeded == []


@pytest.mark.slow
def test_the_attacks_work_without_permissions(tmp_path: Path) -> None:
    """An attack that never works would prove nothing."""
    create_attacked_project(tmp_path / "base")
    failed = []
    for granted in groups():
        if find_missing(granted):
            continue
        for attack in ATTACKS[granted] if RUNS_ALL else ATTACKS[granted][:3]:
            folder = tmp_path / "copy" / "work"
            shutil.rmtree(folder.parent, ignore_errors=True)
            shutil.copytree(tmp_path / "base", folder, symlinks=True)
            run_unrestricted(attack, folder)
            if not find_markers(folder):
                failed.append(attack)
    assert failed == []


def test_each_group_has_ten_attacks() -> None:
    assert {granted: len(attacks) for granted, attacks in ATTACKS.items() if len(set(attacks)) < 10} == {}


@pytest.mark.parametrize("program", sorted({name.split()[0] for name in ATTACKS if find_missing(name)}))
def test_attacks_with_programs_that_are_not_installed(program: str) -> None:
    pytest.skip(f"{program} isn't installed: only the verdict is tested")


async def test_no_command_shows_the_model_a_secret_without_consent(
    trial_home: SessionEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(trial_home, monkeypatch)
    for name in SECRET_FILES:
        path = trial_home.path / name if name.startswith("home/") else trial_home.file(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"SECRET={SECRET}\n")
    run_unrestricted("git add -f .env", trial_home.work_dir)
    reads = [script(bash(f"c{number}", text)) for number, text in enumerate(SECRET_READS)]
    tools = [
        script(call("grep", "Grep", pattern="SECRET", path=str(trial_home.path), output_mode="content")),
        script(call("grep home", "Grep", pattern="SECRET", path="~", output_mode="content")),
        script(call("read", "ReadFile", path=".env")),
        script(call("glob", "Grep", pattern="SECRET", glob=".e*", output_mode="content")),
    ]
    trial_home.script(*reads, *tools, "text: done")
    async with trial_home.open_session() as front:
        await run_calls(trial_home, front)
        shown = {
            name: str(result.return_value.output)
            for name, result in front.results.items()
            if SECRET in str(result.return_value.output)
        }
    assert {SECRET_READS[int(name[1:])] if name[1:].isdecimal() else name for name in shown} == set()
    assert SECRET not in trial_home.journal


@pytest.mark.parametrize("rule", DENIED)
async def test_a_deny_rule_holds_in_yolo_mode(
    trial_home: SessionEnv, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(trial_home, monkeypatch)
    trial_home.file("x").mkdir()
    trial_home.file("x/f").write_text("S\n")
    trial_home.permissions = {"deny": [rule]}
    calls = [script(bash(f"c{number}", text)) for number, text in enumerate(DENIED[rule])]
    trial_home.script(*calls, "text: done")
    before = trial_home.file("x").stat().st_mode
    async with trial_home.open_session(yolo=True) as front:
        await run_calls(trial_home, front)
    assert [path.name for path in trial_home.file("x").iterdir()] == ["f"]
    assert trial_home.file("x/f").read_text() == "S\n"
    assert trial_home.file("x").stat().st_mode == before


@pytest.mark.parametrize(
    "command", ["setsid sleep 4321 &", "nohup setsid -f sleep 4321", "(setsid sleep 4321 & disown)"]
)
async def test_no_process_outlives_the_session(trial_home: SessionEnv, command: str) -> None:
    pids = trial_home.file("pids")
    trial_home.script(script(bash("c", f"{command}\npgrep -nf 'sleep 4321' > pids")), "text: done")
    async with trial_home.open_session(yolo=True) as front:
        await front.turn("go")
        pid = int(pids.read_text())
        assert is_alive(pid)
    deadline = time.monotonic() + TEST_TIMEOUT_S
    try:
        while is_alive(pid):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)
