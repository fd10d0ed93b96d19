"""User extensions in the real program: hooks, skills, commands and agents."""

from pathlib import Path

from tests.e2e.program import Program, script, tool_call

GUARD = """
[[hooks]]
event = "PreToolUse"
matcher = "Bash"
command = "cat > input.json; echo 'not here' >&2; exit 2"
"""


def test_hooks_commands_and_skills_work_in_print_mode(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.script(script("text: a", tool_call("1", "Bash", command="touch made")), "text: b")
    config = program.data_dir / "config.toml"
    config.write_text(config.read_text() + GUARD)
    skill = tmp_path / "skills" / "careful" / "SKILL.md"
    command = program.work_dir / ".kimi-tui" / "commands" / "go.md"
    for file, text in ((skill, "Be careful."), (command, "Go to $1.")):
        file.parent.mkdir(parents=True)
        file.write_text(text)
    assert program.run("trust", "add").exit_code == 0

    finished = program.run("-p", "/go there", "--yolo", "--skills-dir", str(tmp_path / "skills"))

    assert finished.exit_code == 0
    assert not (program.work_dir / "made").exists()
    assert '"touch made"' in (program.work_dir / "input.json").read_text()
    (journal,) = program.context_files
    for text in ("Go to there.", "not here", "- careful: Be careful."):
        assert text in journal.read_text()


def test_a_projects_hooks_need_the_users_trust(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.script("text: hi")
    config = program.work_dir / ".kimi-tui" / "config.toml"
    config.parent.mkdir()
    config.write_text('[[hooks]]\nevent = "SessionStart"\ncommand = "touch run-by-the-project"\n')
    finished = program.run("-p", "hello")
    assert finished.exit_code == 0
    assert not (program.work_dir / "run-by-the-project").exists()


def test_the_agents_are_listed_and_shown(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.script("text: hi")
    listed = program.run("agents", "list").stdout
    for name in ("ctfer", "default", "kimi", "okabe", "security", "security_beta"):
        assert f"\n{name} " in f"\n{listed}"
    shown = program.run("agents", "show", "security_beta").stdout
    assert "knowledge" in shown
    assert "subagent     explore:" in shown
