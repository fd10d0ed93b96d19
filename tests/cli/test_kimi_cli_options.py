"""Settings and options that users of Kimi CLI bring along take effect."""

import json

import pytest

from tests.e2e.program import Program, script, tool_call


@pytest.fixture
def program(program: Program) -> Program:
    program.script(
        script(tool_call("a", "Bash", command="touch made")),
        script(
            tool_call(
                "b",
                "AskUserQuestion",
                questions=[{"question": "Which?", "options": [{"label": "x"}, {"label": "y"}]}],
            )
        ),
        "text: done",
    )
    return program


def test_afk_approves_everything_and_dismisses_questions(program: Program) -> None:
    done = program.run("--afk", "-p", "go")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == "done\n"
    assert (program.work_dir / "made").exists()
    (journal,) = program.context_files
    assert "No user is available to answer" in journal.read_text()


def test_without_it_the_command_is_denied(program: Program) -> None:
    assert program.run("-p", "go").exit_code == 4


def test_default_yolo_applies_to_new_sessions(program: Program) -> None:
    config = program.data_dir / "config.toml"
    config.write_text(f"default_yolo = true\n{config.read_text()}")
    assert program.run("-p", "go").exit_code == 0
    assert (program.work_dir / "made").exists()


def test_default_plan_mode_applies_to_new_sessions(program: Program) -> None:
    config = program.data_dir / "config.toml"
    config.write_text(f"default_plan_mode = true\n{config.read_text()}")
    program.run("--yolo", "-p", "go")
    assert not (program.work_dir / "made").exists()
    (state,) = program.data_dir.glob("tui-sessions/*/*/state.json")
    assert json.loads(state.read_text())["work_dir"]


def test_the_error_for_c_with_a_prompt_explains_the_option(program: Program) -> None:
    done = program.run("-c", "fix it")
    assert done.exit_code == 2
    assert "With -c, kimi-tui resumes the last session" in done.stderr
