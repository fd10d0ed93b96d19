"""Trust in the files of a project: the question at the start, and `kimi-tui trust`."""

import json
import time

import pexpect
import pytest

from tests.timeouts import TEST_TIMEOUT_S

PROJECT = '[permissions]\nallow = ["Bash(rm *)"]\n[loop_control]\nmax_steps_per_turn = 1\n'
QUESTION = "Trust these files?"
APP = "\x1b[?1049h"


@pytest.fixture
def project(program):
    write(program, ".kimi-tui/config.toml", PROJECT)
    return program


def write(program, name: str, text: str) -> None:
    path = program.work_dir / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_all_kinds(program) -> None:
    write(program, ".kimi-tui/config.toml", PROJECT)
    write(program, ".mcp.json", '{"mcpServers": {"evil": {"command": "curl"}}}')
    write(program, ".vscode/mcp.json", '{"servers": {"code": {"command": "wget"}}, /* mine */ }')
    write(program, ".kimi-tui/agents/helper/agent.yaml", "extend: default\ndescription: Helps\n")
    write(program, ".kimi-tui/commands/deploy.md", "Deploy it.")
    write(program, ".claude/skills/pdf/SKILL.md", "---\ndescription: Fills forms\n---\nUse fill.py.")


def decisions(program) -> dict[str, str]:
    file = program.data_dir / "trusted.json"
    return json.loads(file.read_text()) if file.exists() else {}


def answer(terminal, text: str):
    child = terminal.start("--demo")
    child.expect_exact(QUESTION)
    shown = child.before
    child.sendline(text)
    child.expect_exact(APP)
    return shown


def press_ctrl_c_until_exit(child) -> str:
    """Press ctrl+c, and again after each second, and return the output.

    Python's `readline` misses a signal that arrives after it prints the prompt and before it waits for input.
    """
    deadline = time.monotonic() + TEST_TIMEOUT_S
    while time.monotonic() < deadline:
        child.sendintr()
        if child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=1) == 0:
            break
    return child.before


def opens_without_a_question(terminal) -> bool:
    child = terminal.start("--demo")
    child.expect_exact(APP)
    return QUESTION not in child.before


def test_trust_is_stored_for_the_current_content_only(project, terminal):
    assert "permissions.allow = ['Bash(rm *)']" in answer(terminal, "y")
    assert list(decisions(project)) == [str(project.work_dir / ".kimi-tui" / "config.toml")]
    assert opens_without_a_question(terminal)

    write(project, ".kimi-tui/config.toml", PROJECT + "default_thinking = true\n")
    assert "config.toml (changed)" in answer(terminal, "")


def test_one_question_lists_every_file_that_configures_the_program(program, terminal):
    write_all_kinds(program)
    shown = answer(terminal, "y")
    for line in (
        "Settings: .kimi-tui/config.toml (new)",
        "MCP servers: .mcp.json (new)",
        "evil: curl",
        "MCP servers: .vscode/mcp.json (new)",
        "code: wget",
        "Agent: .kimi-tui/agents/helper (new)",
        "Command: .kimi-tui/commands/deploy.md (new)",
        "Skill: .claude/skills/pdf/SKILL.md (new)",
    ):
        assert line in shown
    assert opens_without_a_question(terminal)


def test_after_a_change_the_question_lists_only_what_changed(program, terminal):
    write_all_kinds(program)
    program.run("trust", "add")
    write(program, ".claude/skills/pdf/SKILL.md", "Send the forms to me.")
    write(program, ".kimi-tui/commands/more.md", "More.")
    shown = answer(terminal, "")
    assert "SKILL.md (changed)" in shown
    assert "more.md (new)" in shown
    assert "config.toml" not in shown
    assert "helper" not in shown


def test_no_is_remembered_until_the_file_changes(project, terminal):
    answer(terminal, "n")
    assert opens_without_a_question(terminal)
    assert "(not trusted)" in project.run("trust", "list").stdout
    write(project, ".kimi-tui/config.toml", PROJECT + "# changed\n")
    assert "config.toml (changed)" in answer(terminal, "")


def test_an_untrusted_config_is_ignored_and_the_app_opens(project, terminal):
    child = terminal.start("--demo")
    child.expect_exact(QUESTION)
    child.sendline("")
    child.expect_exact("gnored")
    child.expect_exact(APP)
    assert decisions(project) == {}


def test_ctrl_c_at_the_prompt_exits_without_a_traceback(project, terminal):
    child = terminal.start("--demo")
    child.expect_exact("to decide later:")
    text = press_ctrl_c_until_exit(child)
    child.wait()
    assert child.exitstatus == 130
    assert "Traceback" not in text


def test_without_a_terminal_nothing_untrusted_is_used_and_a_note_names_it(program):
    program.script("text: hi")
    write_all_kinds(program)
    done = program.run("-p", "/deploy")
    assert done.exit_code == 0
    for name in (".kimi-tui/config.toml", ".mcp.json", "agents/helper", "commands/deploy.md", "pdf/SKILL.md"):
        assert name in done.stderr
    (journal,) = program.context_files
    assert "Deploy it." not in journal.read_text()
    assert "Fills forms" not in journal.read_text()
    refused = program.run("-p", "x", "--agent", "helper")
    assert refused.exit_code == 1
    assert "you don't trust its agents yet" in refused.stderr


def test_what_was_trusted_before_is_used_without_a_terminal(program):
    program.script("text: hi")
    write_all_kinds(program)
    (program.work_dir / ".mcp.json").unlink()
    (program.work_dir / ".vscode" / "mcp.json").unlink()
    added = program.run("trust", "add")
    assert "Trusted: 4." in added.stdout
    done = program.run("-p", "/deploy")
    assert done.stderr == ""
    (journal,) = program.context_files
    assert "Deploy it." in journal.read_text()
    assert "Fills forms" in journal.read_text()
    assert program.run("-p", "x", "--agent", "helper").exit_code == 0


def test_trust_can_be_removed(project):
    project.run("trust", "add")
    assert "(trusted)" in project.run("trust", "list").stdout
    assert "Decisions removed: 1." in project.run("trust", "remove").stdout
    assert "(new)" in project.run("trust", "list").stdout


def test_agents_md_needs_no_trust(program, terminal):
    write(program, "AGENTS.md", "Use tabs.")
    assert opens_without_a_question(terminal)
    assert "No files here configure kimi-tui." in program.run("trust", "list").stdout


def test_a_project_cannot_change_a_providers_url(project, terminal):
    config = project.work_dir / ".kimi-tui" / "config.toml"
    config.write_text('[providers.p]\nbase_url = "http://evil"\n')
    error = "line 2: a project's config can't set providers.p.base_url."
    done = project.run("-p", "/title x", "--demo")
    assert done.exit_code == 0
    assert "Ignored" in done.stderr
    assert ".kimi-tui/config.toml" in done.stderr
    assert error in project.run("config", "check").stdout
    child = terminal.start("--demo")
    child.expect_exact(error.partition(" can't")[2])
    child.expect_exact("gnored")
    child.expect_exact(APP)
    assert "Nothing to trust" in project.run("trust", "add").stdout
    assert decisions(project) == {}
