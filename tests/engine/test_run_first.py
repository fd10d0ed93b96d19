"""Commands that run before they are allowed: the question shows what they did."""

import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from kimi_tui.wire.commands import Interrupt, MoveToBackground, Prompt, SetAcceptEdits, SetPlanMode, SetYolo
from kimi_tui.wire.display_blocks import DiffBlock
from kimi_tui.wire.events import ApprovalResponse, Notification, ToolOutput, TurnEnd
from kimi_tui.wire.requests import ApprovalRequest
from kimi_tui.workspaces.workspaces import Workspaces
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, call, script, write


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


async def ask(front: FakeFrontEnd) -> ApprovalRequest:
    front.send(Prompt("go"))
    return await front.next_approval_request()


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def create_repository(folder: Path) -> None:
    (folder / "a").write_text("text\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")


async def test_a_command_without_effects_needs_no_question(trial_home: SessionEnv) -> None:
    trial_home.file("a").write_text("text\n")
    trial_home.script(script(bash("c1", "cat a")), "text: done")
    async with trial_home.open_session() as front:
        assert (await front.turn("go")).outcome == "finished"
        assert front.results["c1"].return_value.output == "text\n"
        assert not front.of(ApprovalRequest)


async def test_the_question_shows_the_result_and_yes_commits_it(trial_home: SessionEnv) -> None:
    trial_home.file("a").write_text("one\ntwo\n")
    trial_home.script(script(bash("c1", "sed -i s/two/2/ a; echo printed; exit 3")), "text: done")
    async with trial_home.open_session() as front:
        request = await ask(front)
        effects = request.effects
        assert effects is not None
        assert (effects.exit_code, effects.output) == (3, "printed")
        assert [(file.path, file.kind, file.added_lines, file.removed_lines) for file in effects.files] == [
            ("a", "modify", 1, 1)
        ]
        (diff,) = [block for block in request.display if isinstance(block, DiffBlock)]
        assert (diff.old_text, diff.new_text) == ("one\ntwo\n", "one\n2\n")
        assert trial_home.file("a").read_text() == "one\ntwo\n"
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
        assert trial_home.file("a").read_text() == "one\n2\n"
        assert front.results["c1"].return_value.output == "printed\n"


async def test_a_command_that_is_moved_to_the_background_starts_again_after_the_question(
    trial_home: SessionEnv,
) -> None:
    trial_home.script(script(bash("c1", "echo started; touch a; sleep 600")), "text: done")
    async with trial_home.open_session() as front:
        front.send(Prompt("go"))
        await front.wait_for(ToolOutput)
        front.send(MoveToBackground())
        request = await front.next_approval_request()
        assert request.effects is None
        assert not trial_home.file("a").exists()
        front.answer(request, "approve")
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        assert "background" in front.results["c1"].return_value.message


async def test_in_plan_mode_a_command_does_not_move_to_the_background(trial_home: SessionEnv) -> None:
    trial_home.script(script(bash("c1", "echo started; sleep 600")), "text: done")
    async with trial_home.open_session() as front:
        front.send(SetPlanMode(True))
        front.send(Prompt("go"))
        await front.wait_for(ToolOutput)
        front.send(MoveToBackground())
        await front.wait_for(Notification)
        assert "can move to the background" in str(front.of(Notification)[-1])
        front.send(Interrupt())
        assert (await front.wait_for(TurnEnd)).outcome == "cancelled"


async def test_nothing_runs_twice(trial_home: SessionEnv) -> None:
    trial_home.script(script(bash("c1", "echo run >> a")), "text: done")
    async with trial_home.open_session() as front:
        front.answer(await ask(front), "approve")
        await front.wait_for(TurnEnd)
    assert trial_home.file("a").read_text() == "run\n"


async def test_no_discards_the_effects_and_ends_the_turn(trial_home: SessionEnv) -> None:
    trial_home.script(script(bash("c1", "touch a"), bash("c2", "touch b")), "text: done")
    async with trial_home.open_session() as front:
        front.answer(await ask(front), "reject")
        assert (await front.wait_for(TurnEnd)).outcome == "rejected"
        assert "not run" in front.results["c2"].return_value.message
    assert not list(trial_home.work_dir.iterdir())


async def test_no_with_feedback_discards_the_effects_and_continues(trial_home: SessionEnv) -> None:
    trial_home.script(script(bash("c1", "touch a")), "text: done")
    async with trial_home.open_session() as front:
        front.answer(await ask(front), "reject", "call it b")
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        assert "call it b" in front.results["c1"].return_value.message
    assert not trial_home.file("a").exists()


async def test_calls_of_a_step_see_the_outcome_of_the_ones_before(trial_home: SessionEnv) -> None:
    trial_home.script(
        script(
            bash("c1", "echo 1 > a"),
            bash("c2", "echo 2 > b"),
            bash("c3", "cat a b 2>&1 || true"),
        ),
        "text: done",
    )
    async with trial_home.open_session() as front:
        front.answer(await ask(front), "approve")
        front.answer(await front.next_approval_request(), "reject", "not that")
        await front.wait_for(TurnEnd)
        assert str(front.results["c3"].return_value.output).startswith("1\n")
        assert "b: No such file" in str(front.results["c3"].return_value.output)


async def test_a_command_waits_for_an_earlier_edit_and_sees_it(trial_home: SessionEnv) -> None:
    trial_home.script(script(write("c1", "a", "new\n"), bash("c2", "cat a")), "text: done")
    async with trial_home.open_session() as front:
        front.answer(await ask(front), "approve")
        await front.wait_for(TurnEnd)
        assert front.results["c2"].return_value.output == "new\n"


async def test_a_grant_for_several_files_of_a_folder_names_the_folder_only(trial_home: SessionEnv) -> None:
    (trial_home.work_dir / "out").mkdir()
    (trial_home.work_dir / "c").touch()
    trial_home.script(script(bash("c1", "touch out/a out/b; echo 1 > c")), "text: done")
    async with trial_home.open_session() as front:
        request = await ask(front)
        assert request.rule == "Edit(./c) and Edit(out/**)"
        front.answer(request, "reject")
        await front.wait_for(TurnEnd)


async def test_a_grant_for_the_session_covers_the_effects_by_path(trial_home: SessionEnv) -> None:
    (trial_home.work_dir / "out").mkdir()
    trial_home.script(
        script(bash("c1", "touch out/a")),
        "text: done",
        script(bash("c2", "touch out/a out/b; rm out/b; echo 1 > out/a")),
        "text: done",
        script(bash("c3", "touch elsewhere")),
        "text: done",
    )
    async with trial_home.open_session() as front:
        request = await ask(front)
        assert request.rule
        assert request.rule.startswith("Edit(")
        front.answer(request, "approve_for_session")
        await front.wait_for(TurnEnd)
        await front.turn("go")
        assert trial_home.file("out/a").read_text() == "1\n"
        assert len(front.of(ApprovalRequest)) == 1
        await ask(front)


async def test_effects_that_a_rule_allows_are_committed_without_a_question(trial_home: SessionEnv) -> None:
    trial_home.permissions = {"allow": ["Edit(src/**)"]}
    trial_home.script(script(bash("c1", "mkdir src; echo 1 > src/a")), "text: done")
    async with trial_home.open_session() as front:
        await front.turn("go")
        assert not front.of(ApprovalRequest)
    assert trial_home.file("src/a").read_text() == "1\n"


async def test_effects_that_a_rule_denies_are_discarded_without_a_question(trial_home: SessionEnv) -> None:
    trial_home.permissions = {"deny": ["Edit(migrations/**)"]}
    (trial_home.work_dir / "migrations").mkdir()
    (trial_home.work_dir / "run.sh").write_text("touch a migrations/b\n")
    trial_home.script(script(bash("c1", "sh run.sh")), "text: done")
    async with trial_home.open_session() as front:
        await front.turn("go")
        assert not front.of(ApprovalRequest)
        assert "migrations/b" in front.results["c1"].return_value.message
    assert not trial_home.file("a").exists()
    assert not trial_home.file("migrations/b").exists()


async def test_accept_edits_covers_changes_but_not_deleting_the_users_files(trial_home: SessionEnv) -> None:
    trial_home.file("mine").write_text("mine\n")
    trial_home.script(
        script(bash("c1", "echo 1 > new; echo 2 >> mine")),
        script(bash("c2", "rm new")),
        script(bash("c3", "rm mine")),
        "text: done",
    )
    async with trial_home.open_session() as front:
        front.send(SetAcceptEdits(True))
        request = await ask(front)
        assert request.tool_call_id == "c3"
        assert trial_home.file("mine").read_text() == "mine\n2\n"
        assert not trial_home.file("new").exists()
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
    assert not trial_home.file("mine").exists()


async def test_caches_of_tools_need_no_question_and_are_dropped(trial_home: SessionEnv) -> None:
    trial_home.script(
        script(
            bash("c1", "mkdir -p src/__pycache__ .pytest_cache; touch src/__pycache__/a.pyc .pytest_cache/b")
        ),
        script(bash("c2", "mkdir .mypy_cache; touch .mypy_cache/a b")),
        "text: done",
    )
    async with trial_home.open_session() as front:
        request = await ask(front)
        assert request.tool_call_id == "c2"
        assert request.effects is not None
        assert [file.path for file in request.effects.files] == ["b"]
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
    assert [path.name for path in trial_home.work_dir.iterdir()] == ["b"]


async def test_git_status_has_no_effects_although_the_index_is_old(trial_home: SessionEnv) -> None:
    create_repository(trial_home.work_dir)
    trial_home.file("a").touch()
    trial_home.script(script(bash("c1", "git status --short; git diff; git log --oneline")), "text: done")
    async with trial_home.open_session() as front:
        await front.turn("go")
        assert not front.of(ApprovalRequest)
        assert not front.results["c1"].return_value.is_error


async def test_a_commit_is_one_question_about_gits_data(trial_home: SessionEnv) -> None:
    create_repository(trial_home.work_dir)
    trial_home.file("b").write_text("b\n")
    for name in ("name", "email"):
        git(trial_home.work_dir, "config", f"user.{name}", "a")
    command = "git add b && git commit -qm second && git log --oneline"
    trial_home.script(script(bash("c1", command)), "text: done")
    async with trial_home.open_session() as front:
        request = await ask(front)
        assert request.effects is not None
        assert [(file.path, file.kind) for file in request.effects.files] == [(".git", "git")]
        assert request.danger is None
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
        assert "second" in str(front.results["c1"].return_value.output)
    log = subprocess.run(
        ["git", "log", "--oneline"], cwd=trial_home.work_dir, check=True, capture_output=True, text=True
    )
    assert "second" in log.stdout


async def test_reading_a_secret_asks_with_the_result_and_no_keeps_it_from_the_model(
    trial_home: SessionEnv,
) -> None:
    trial_home.file(".env").write_text("TOKEN=hidden-value\n")
    trial_home.file("notes").symlink_to(".env")
    trial_home.script(script(bash("c1", "sed p notes")), "text: done")
    async with trial_home.open_session() as front:
        request = await ask(front)
        assert request.effects is not None
        assert request.effects.secrets == (".env",)
        front.answer(request, "reject", "no")
        await front.wait_for(TurnEnd)
    assert "hidden-value" not in trial_home.journal


async def test_a_secret_that_appears_during_the_session_is_found(trial_home: SessionEnv) -> None:
    trial_home.script(
        script(bash("c1", "ls")), "text: done", script(bash("c2", "cat conf/.env")), "text: done"
    )
    (trial_home.work_dir / "conf").mkdir()
    async with trial_home.open_session() as front:
        await front.turn("go")
        trial_home.file("conf/.env").write_text("TOKEN=1\n")
        request = await ask(front)
        assert request.tool_call_id == "c2"
        front.answer(request, "reject", "no")
        await front.wait_for(TurnEnd)


async def test_a_credential_that_git_would_show_asks(trial_home: SessionEnv) -> None:
    create_repository(trial_home.work_dir)
    trial_home.file(".env").write_text("TOKEN=1\n")
    git(trial_home.work_dir, "add", "-f", ".env")
    trial_home.script(script(bash("c1", "git diff --cached")), "text: done")
    async with trial_home.open_session() as front:
        request = await ask(front)
        assert request.effects is not None
        assert request.effects.secrets == (".env",)


async def test_a_run_that_failed_for_lack_of_network_is_asked_about_and_runs_for_real(
    trial_home: SessionEnv,
) -> None:
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    trial_home.file("connect.py").write_text(
        "import socket\nopen('log', 'a').write('run\\n')\n"
        f"socket.create_connection(('127.0.0.1', {port}), 5)\n"
    )
    trial_home.script(script(bash("c1", "python3 connect.py")), "text: done")
    with server:
        async with trial_home.open_session() as front:
            request = await ask(front)
            assert request.effects is None
            assert request.reason == "it tried to reach the network"
            assert not trial_home.file("log").exists()
            front.answer(request, "approve")
            await front.wait_for(TurnEnd)
            assert not front.results["c1"].return_value.is_error
    assert trial_home.file("log").read_text() == "run\n"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("git push origin main", "git push needs the network"),
        ("npm install left-pad", "npm install needs the network"),
        ("python3 -m pip install x", "pip install needs the network"),
        ("docker ps", "docker works through another process"),
        ("sleep 100 &", "it leaves background jobs"),
    ],
)
async def test_a_command_that_cannot_be_judged_is_asked_about_with_the_reason(
    trial_home: SessionEnv, command: str, reason: str
) -> None:
    trial_home.script(script(bash("c1", command)), "text: done")
    async with trial_home.open_session() as front:
        request = await ask(front)
        assert request.effects is None
        assert request.reason is not None
        assert reason in request.reason
        front.answer(request, "reject")


async def test_a_background_command_is_asked_about_with_the_reason(trial_home: SessionEnv) -> None:
    trial_home.script(script(call("c1", "Bash", command="sleep 9", run_in_background=True)), "text: done")
    async with trial_home.open_session() as front:
        request = await ask(front)
        assert (request.effects, request.reason) == (None, "it runs in the background")
        front.answer(request, "reject")


async def test_a_file_outside_is_asked_about_before_the_command_runs(trial_home: SessionEnv) -> None:
    outside = trial_home.path / "outside.txt"
    outside.write_text("outside\n")
    trial_home.script(
        script(bash("c1", f"cat {outside}")),
        script(bash("c2", f'python3 -c \'print(open("/" + "{outside}"[1:]).read())\'')),
        "text: done",
    )
    async with trial_home.open_session() as front:
        request = await ask(front)
        assert request.reason is not None
        assert str(outside) in request.reason
        front.answer(request, "approve")
        request = await front.next_approval_request()
        assert request.effects is None
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
        assert front.results["c1"].return_value.output == "outside\n"
        assert "outside" in str(front.results["c2"].return_value.output)


async def test_a_directory_that_the_settings_open_needs_no_question(trial_home: SessionEnv) -> None:
    cache = trial_home.path / "cache"
    cache.mkdir()
    trial_home.script(script(bash("c1", f"echo x > {cache}/a; cat {cache}/a")), "text: done")
    settings = trial_home.settings(sandbox={"write": [str(cache)]})
    async with trial_home.open_session(settings=settings) as front:
        await front.turn("go")
        assert not front.of(ApprovalRequest)
        assert front.results["c1"].return_value.output == "x\n"
    assert (cache / "a").exists()


async def test_an_ask_rule_for_the_command_asks_before_it_runs(trial_home: SessionEnv) -> None:
    trial_home.permissions = {"ask": ["Bash(touch *)"]}
    trial_home.script(script(bash("c1", "touch a")), "text: done")
    async with trial_home.open_session() as front:
        assert (await ask(front)).effects is None


async def test_an_allowed_command_runs_without_bounds(trial_home: SessionEnv) -> None:
    outside = trial_home.path / "outside"
    trial_home.permissions = {"allow": [f"Bash(sh -c 'touch {outside}')"]}
    trial_home.script(script(bash("c1", f"sh -c 'touch {outside}'")), "text: done")
    async with trial_home.open_session() as front:
        await front.turn("go")
        assert not front.of(ApprovalRequest)
    assert outside.exists()


async def test_run_it_for_real_discards_the_result_and_runs_again_without_bounds(
    trial_home: SessionEnv,
) -> None:
    trial_home.script(script(bash("c1", "echo run >> a; echo ${TOKEN:-none}")), "text: done")
    async with trial_home.open_session() as front:
        front.answer(await ask(front), "run_directly")
        await front.wait_for(TurnEnd)
        assert len(front.of(ApprovalRequest)) == 1
    assert trial_home.file("a").read_text() == "run\n"


async def test_an_edited_command_runs_instead(trial_home: SessionEnv) -> None:
    trial_home.script(script(bash("c1", "touch a")), "text: done")
    async with trial_home.open_session() as front:
        request = await ask(front)
        front.wire.answer(ApprovalResponse(request.id, "approve", edited="touch b"))
        await front.wait_for(TurnEnd)
        assert "touch b" in front.results["c1"].return_value.message
    assert [path.name for path in trial_home.work_dir.iterdir()] == ["b"]


async def test_a_file_that_changes_before_the_yes_is_shown_as_a_conflict_and_asked_again(
    trial_home: SessionEnv,
) -> None:
    trial_home.file("a").write_text("before\n")
    trial_home.script(script(bash("c1", "echo agent > a; echo agent > b")), "text: done")
    async with trial_home.open_session() as front:
        request = await ask(front)
        trial_home.file("a").write_text("mine\n")
        front.answer(request, "approve")
        request = await front.next_approval_request()
        assert request.effects is not None
        assert [(file.path, bool(file.conflict)) for file in request.effects.files] == [
            ("a", True),
            ("b", False),
        ]
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
        assert "a was left alone" in front.results["c1"].return_value.message
    assert trial_home.file("a").read_text() == "mine\n"
    assert trial_home.file("b").read_text() == "agent\n"


async def test_interrupting_a_running_command_discards_its_effects(trial_home: SessionEnv) -> None:
    trial_home.script(script(bash("c1", "touch a; echo started; sleep 600")), "text: done")
    async with trial_home.open_session() as front:
        front.send(Prompt("go"))
        await front.wait_for(ToolOutput)
        front.send(Interrupt())
        await front.wait_for(TurnEnd)
        assert "discarded" in front.results["c1"].return_value.message
    assert not trial_home.file("a").exists()


async def test_interrupting_the_question_discards_the_effects(trial_home: SessionEnv) -> None:
    trial_home.script(script(bash("c1", "touch a")), "text: done")
    async with trial_home.open_session() as front:
        await ask(front)
        front.send(Interrupt())
        await front.wait_for(TurnEnd)
        assert "discarded" in front.results["c1"].return_value.message
    assert not trial_home.file("a").exists()


async def test_what_a_command_did_until_its_timeout_is_asked_about(trial_home: SessionEnv) -> None:
    trial_home.script(script(call("c1", "Bash", command="touch a; sleep 600", timeout=1)), "text: done")
    async with trial_home.open_session() as front:
        request = await ask(front)
        assert request.effects is not None
        assert request.effects.timed_out
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
    assert trial_home.file("a").exists()


async def test_plan_mode_runs_commands_and_discards_what_they_change(trial_home: SessionEnv) -> None:
    trial_home.script(script(bash("c1", "echo 1 > a; cat a")), "text: done")
    async with trial_home.open_session() as front:
        front.send(SetPlanMode(True))
        await front.turn("go")
        assert not front.of(ApprovalRequest)
        assert front.results["c1"].return_value.output == "1\n"
        assert "Plan mode" in front.results["c1"].return_value.message
    assert not trial_home.file("a").exists()


async def test_plan_mode_refuses_a_command_that_cannot_be_private(trial_home: SessionEnv) -> None:
    trial_home.script(script(bash("c1", "git push")), "text: done")
    async with trial_home.open_session() as front:
        front.send(SetPlanMode(True))
        await front.turn("go")
        assert not front.of(ApprovalRequest)
        assert "Plan mode is on" in front.results["c1"].return_value.message


async def test_plan_mode_that_is_switched_on_during_the_question_discards_the_effects(
    trial_home: SessionEnv,
) -> None:
    trial_home.script(script(bash("c1", "touch a")), "text: done")
    async with trial_home.open_session() as front:
        request = await ask(front)
        await front.wire.command_and_wait(SetPlanMode(True))
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
    assert not trial_home.file("a").exists()


async def test_yolo_answers_an_open_question(trial_home: SessionEnv) -> None:
    trial_home.script(script(bash("c1", "touch a")), "text: done")
    async with trial_home.open_session() as front:
        await ask(front)
        front.send(SetYolo(True))
        await front.wait_for(TurnEnd)
    assert trial_home.file("a").exists()


async def test_danger_is_shown_with_the_result(trial_home: SessionEnv) -> None:
    (trial_home.work_dir / "build").mkdir()
    trial_home.file("build/a").write_text("a")
    trial_home.script(script(bash("c1", "rm -rf build")), "text: done")
    async with trial_home.open_session() as front:
        request = await ask(front)
        assert request.effects is not None
        assert request.danger
        assert request.rule is None or "rm" not in request.rule
        assert [(file.path, file.kind) for file in request.effects.files] == [("build/a", "delete")]


async def test_without_a_backend_commands_are_asked_about_before_they_run(home: SessionEnv) -> None:
    home.runs_first = True
    home.script(script(bash("c1", "touch a")), "text: done")
    async with home.open_session(settings=home.settings(workspaces={"backend": "none"})) as front:
        request = await ask(front)
        assert (request.effects, request.reason) == (None, None)
        assert not home.file("a").exists()
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
    assert home.file("a").exists()


async def test_one_notice_explains_why_commands_are_asked_about_before_they_run(
    home: SessionEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = home.path / "bin"
    programs.mkdir()
    for name in ("sh", "bash", "touch"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))  # without bubblewrap
    home.runs_first = True
    home.script(script(bash("c1", "touch a")), script(bash("c2", "touch b")), "text: done")
    async with home.open_session() as front:
        front.answer(await ask(front), "approve")
        front.answer(await front.next_approval_request(), "approve")
        await front.wait_for(TurnEnd)
        notices = [it for it in front.of(Notification) if it.type == "asks_first"]
        assert len(notices) == 1
        assert "workspaces" in notices[0].body or "bubblewrap" in notices[0].body
    assert home.file("b").exists()
