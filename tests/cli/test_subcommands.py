"""Subcommands that work on files: config, info, sessions, agents."""

import json
import os
import sys
import time

import pytest

CONFIG = """
[providers.p]
type = "kimi"
api_key = "sk-very-secret"
[models.m]
provider = "p"
model = "kimi-k2"
max_context_size = 1000
"""


def test_config_path_shows_the_existing_or_default_file(program):
    assert program.run("config", "path").stdout == f"{program.data_dir}/config.toml\n"
    program.data_dir.mkdir()
    (program.data_dir / "config.yaml").write_text("theme: dark")
    assert program.run("config", "path").stdout == f"{program.data_dir}/config.yaml\n"


def test_config_set_writes_a_setting_and_config_list_shows_it(program):
    program.configure("# mine\n")
    assert program.run("config", "set", "ui.mouse", "off").exit_code == 0
    assert (program.data_dir / "config.toml").read_text() == "# mine\n\n[ui]\nmouse = false\n"
    listed = program.run("config", "list", "ui.mouse").stdout
    assert listed == f"ui.mouse = false   # {program.data_dir}/config.toml\n"
    refused = program.run("config", "set", "ui.mouse", "perhaps")
    assert (refused.exit_code, "It should be true or false." in refused.stderr) == (1, True)


def test_config_check_lists_all_problems(program):
    program.configure(f'theme = "mauve"\n{CONFIG}\n[ui]\nmous = 1\n[mcp]\nx = 1')
    done = program.run("config", "check")
    assert done.exit_code == 1
    assert 'theme is "mauve"' in done.stdout
    assert "Did you mean mouse?" in done.stdout
    assert "unknown setting mcp.x." in done.stdout


def test_config_check_lists_ignored_tables_next_to_the_problems(program):
    program.configure(f'theme = "mauve"\n{CONFIG}\n[ui]\nmous = 1\n[notifications]\nx = 1')
    done = program.run("config", "check")
    assert done.exit_code == 1
    assert 'theme is "mauve"' in done.stdout
    assert "Did you mean mouse?" in done.stdout
    assert "used by kimi-cli only: notifications." in done.stdout


def test_config_check_accepts_a_valid_config_and_shows_no_key(program):
    program.configure(CONFIG)
    done = program.run("config", "check")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == "No problems found."
    assert "secret" not in done.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [("default_model = 'x'" + CONFIG, "Unknown model “x”"), (CONFIG.replace('"p"', '"q"'), "“q”")],
)
def test_config_check_reports_undefined_names(program, text, message):
    program.configure(text)
    done = program.run("config", "check")
    assert done.exit_code == 1
    assert message in done.stdout


def test_config_check_reports_unusable_rules_keys_and_strategies(program):
    program.configure(
        f"{CONFIG}\n[permissions]\nallow = ['Bash(']\ndeny = ['Nope(x)', 'Bash(rm *)']\n"
        "[keymap]\n'no.such' = 'f10'\n[compaction]\nstrategy = 'nope:Nope'\n"
    )
    done = program.run("config", "check")
    assert done.exit_code == 1
    for message in (
        "“Bash(” isn't a permission rule",
        "“Nope(x)” isn't a permission rule",
        "keymap: no.such",
        "nope:Nope: ModuleNotFoundError",
    ):
        assert message in done.stdout
    lines = [line.partition(": ")[0] for line in done.stdout.splitlines() if "line" in line]
    numbers = [int(line.rpartition(" ")[2]) for line in lines]
    config = (program.data_dir / "config.toml").read_text().splitlines()
    assert [config[number - 1].split()[0] for number in numbers] == ["allow", "deny", "[keymap]", "strategy"]


def test_config_check_of_another_file(program):
    (program.work_dir / "other.toml").write_text("theme = 'dark'\n[ui]\nmous = 1")
    done = program.run("config", "check", "other.toml")
    assert (done.exit_code, "other.toml, line 3" in done.stdout) == (1, True)


def editor(program, code: str) -> str:
    script = program.home / "editor.py"
    script.write_text(f"import sys\nfrom pathlib import Path\npath = Path(sys.argv[-1])\n{code}\n")
    return f"{sys.executable} '{script}' --wait"


def test_config_edit_opens_the_template_in_the_editor_and_checks_it(program):
    seen = program.home / "seen"
    program.env["EDITOR"] = editor(
        program, f"Path({str(seen)!r}).write_text(path.read_text())\npath.write_text('theme = 1')"
    )
    done = program.run("config", "edit")
    assert done.exit_code == 1
    assert "theme is 1" in done.stdout
    assert "# [providers.moonshot]" in seen.read_text()


def test_the_uncommented_template_is_valid(program):
    from kimi_tui.config.template import TEMPLATE

    lines = [line.removeprefix("# ") for line in TEMPLATE.splitlines()]
    config = "\n".join(line for line in lines if "=" in line or line.startswith("["))
    program.configure(config)
    program.env["KIMI_API_KEY"] = "k"
    done = program.run("config", "check")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "No problems found.")


def test_a_missing_editor_is_reported(program):
    program.env["EDITOR"] = "no-such-editor"
    done = program.run("config", "edit")
    assert done.exit_code == 1
    assert "Can't start the editor “no-such-editor”" in done.stderr


def test_config_edit_starts_no_default_editor_without_a_terminal(program):
    done = program.run("config", "edit")
    assert (done.exit_code, list(program.data_dir.glob("config*"))) == (2, [])
    assert "EDITOR isn't set" in done.stderr


def test_info_shows_no_key(program):
    program.configure(CONFIG)
    done = program.run("info", "--json")
    facts = json.loads(done.stdout)
    assert facts["share_dir"] == str(program.data_dir)
    assert facts["model"] == "m (kimi-k2, kimi)"
    assert facts["providers"] == "p (kimi, with a key)"
    assert "secret" not in done.stdout + program.run("info").stdout


def test_info_shows_only_the_presence_of_urls_and_keys_in_the_environment(program):
    program.env |= {
        "OPENAI_API_KEY": "sk-hidden",
        "OPENAI_BASE_URL": "http://user:hidden@host",
        "TERM": "vt100",
    }
    done = program.run("info")
    assert "OPENAI_API_KEY set, OPENAI_BASE_URL set, " in done.stdout
    assert "TERM vt100" in done.stdout
    assert "hidden" not in done.stdout


def test_info_works_with_an_invalid_config(program):
    program.configure("theme = ")
    done = program.run("info")
    assert done.exit_code == 0
    assert "invalid TOML" in done.stdout


@pytest.fixture
def sessions(program):
    """Create two sessions of the working directory, the second used last, and one of another."""
    from kimi_tui.base.paths import work_dir_key

    def write(session_id, work_dir, messages, used):
        folder = program.data_dir / "tui-sessions" / work_dir_key(work_dir) / session_id
        folder.mkdir(parents=True)
        journal = folder / "context.jsonl"
        journal.write_text("".join(json.dumps(record) + "\n" for record in messages))
        os.utime(journal, (used, used))
        (folder / "state.json").write_text(
            json.dumps({"title": messages[0]["content"], "work_dir": str(work_dir)})
        )

    now = time.time()
    write("aaaa-first", program.work_dir, [{"role": "user", "content": "old words"}], now - 100)
    write(
        "bbbb-second",
        program.work_dir,
        [
            {"role": "user", "content": "fix \x1b[31mit"},
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {"type": "function", "id": "1", "function": {"name": "LS", "arguments": "{}"}}
                ],
            },
            {"role": "tool", "tool_call_id": "1", "content": "a.py"},
            {"role": "assistant", "content": "Done."},
        ],
        now,
    )
    write("cccc-other", program.home, [{"role": "user", "content": "elsewhere"}], now - 50)
    return program


def test_sessions_list_shows_this_directory_last_used_first(sessions):
    done = sessions.run("sessions", "list")
    assert [line.split("  ")[0] for line in done.stdout.splitlines()] == ["bbbb-sec", "aaaa-fir"]
    assert "\x1b" not in done.stdout


def test_sessions_list_of_all_directories_as_json(sessions):
    lines = sessions.run("sessions", "list", "--all", "--json").lines
    assert [line["id"] for line in lines] == ["bbbb-second", "cccc-other", "aaaa-first"]
    assert lines[1]["work_dir"] == str(sessions.home)


def test_sessions_show_prints_the_conversation(sessions):
    done = sessions.run("sessions", "show", "bbbb")
    for part in ("[user] fix it", "[assistant] I look.", "→ LS {}", "[tool] a.py", "[assistant] Done."):
        assert part in done.stdout
    assert "\x1b" not in done.stdout


def test_sessions_export_redacts_keys(sessions):
    sessions.configure(CONFIG)
    (journal,) = sessions.data_dir.glob("tui-sessions/*/bbbb-second/context.jsonl")
    journal.write_text(journal.read_text().replace("Done.", "The key is sk-very-secret."))
    done = sessions.run("sessions", "export", "bbbb")
    assert "## You\n\nfix" in done.stdout
    assert "The key is" in done.stdout
    assert "sk-very-secret" not in done.stdout


def test_an_exported_session_can_be_imported(sessions):
    file = sessions.home / "conversation.json"
    assert sessions.run("sessions", "export", "bbbb", "-o", str(file)).exit_code == 0
    again = sessions.run("sessions", "export", "bbbb", "-o", str(file))
    assert (again.exit_code, again.stderr) == (1, f"{file} already exists. Choose another file name.\n")

    imported = sessions.run("sessions", "import", str(file))
    assert imported.exit_code == 0, imported.stderr
    new, *_ = sessions.run("sessions", "list", "--json").lines
    assert new["id"] in imported.stdout
    assert new["title"] == "fix it"
    old, new_text = (sessions.run("sessions", "show", one).stdout for one in ("bbbb", new["id"]))
    assert new_text.partition("\n\n")[2] == old.partition("\n\n")[2]

    sessions.script("text: I go on.")
    assert sessions.run("-p", "go on", "-S", new["id"]).stdout == "I go on.\n"


@pytest.mark.parametrize("name", ["none.json", "text.json", "list.json", "broken.json"])
def test_a_file_without_a_conversation_is_not_imported(program, name):
    result = '{"messages": [{"role": "tool", "tool_call_id": "x", "content": "no call"}]}'
    texts = {"text.json": "hello", "list.json": '{"messages": []}', "broken.json": result}
    if name in texts:
        (program.work_dir / name).write_text(texts[name])
    done = program.run("sessions", "import", name)
    assert (done.exit_code, done.stdout) == (1, "")
    assert name in done.stderr
    assert program.run("sessions", "list", "--json").lines == []


def test_an_unknown_session_suggests_close_ones(sessions):
    done = sessions.run("sessions", "show", "bbbb-secnod")
    assert done.exit_code == 1
    assert "bbbb-second" in done.stderr


def test_sessions_rm_needs_confirmation(sessions):
    refused = sessions.run("sessions", "rm", "aaaa")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    done = sessions.run("sessions", "rm", "aaaa", "cccc", "--yes")
    assert done.stdout == "Deleted aaaa-first.\nDeleted cccc-other.\n"
    assert [line["id"] for line in sessions.run("sessions", "list", "--all", "--json").lines] == [
        "bbbb-second"
    ]


def test_sessions_rm_asks_for_each_session_in_a_terminal(sessions, terminal):
    child = terminal.start("sessions", "rm", "aaaa", "bbbb")
    child.expect("Permanently delete session aaaa.*y/N")
    child.sendline("n")
    child.expect("Permanently delete session bbbb.*y/N")
    child.sendline("y")
    child.expect("Deleted bbbb-second")
    child.wait()
    assert [line["id"] for line in sessions.run("sessions", "list", "--json").lines] == ["aaaa-first"]


def test_sessions_list_without_sessions(program):
    done = program.run("sessions", "list")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "No sessions in" in done.stderr


def agent(program, name: str, text: str) -> None:
    folder = program.work_dir / ".kimi-tui" / "agents" / name
    folder.mkdir(parents=True)
    (folder / "agent.yaml").write_text(text)


def test_agents_list_shows_bundled_project_and_invalid_agents(program):
    agent(program, "mine", "extend: default\ndescription: Does it my way\n")
    agent(program, "torn", "tools: [NoSuchTool]\n")
    done = program.run("agents", "list")
    assert done.exit_code == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert "bundled" in lines["default"]
    assert "project" in lines["mine"]
    assert "Does it my way" in lines["mine"]
    assert "invalid: " in lines["torn"]


def test_agents_show_prints_the_tools(program):
    done = program.run("agents", "show", "default")
    assert done.exit_code == 0
    tools = next(line for line in done.stdout.splitlines() if line.startswith("tools"))
    assert {"ReadFile", "EditFile", "Bash"} <= set(tools.replace(",", "").split())


def test_an_unknown_agent_suggests_close_names(program):
    done = program.run("agents", "show", "defalt")
    assert done.exit_code == 1
    assert "default" in done.stderr
