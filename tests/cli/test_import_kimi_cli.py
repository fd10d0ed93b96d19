"""`kimi-tui import` with a data directory of Kimi CLI."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.errors import UsageError
from kimi_tui.cli.kimi_cli.importer import import_all
from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.engine.subagents.store import SubagentStore
from kimi_tui.history.context import Context
from kimi_tui.history.kimi_cli.data_dir import open_data_dir
from kimi_tui.history.session import SessionStore
from tests.cli.conftest import Terminal
from tests.e2e.program import Program

CONFIG = """\
# my models
default_model = "kimi-for-coding"
telemetry = true
[providers.moonshot]
type = "kimi"
base_url = "https://api.moonshot.cn/v1"
api_key = "sk-theirs-123456"
[models.kimi-for-coding]
provider = "moonshot"
model = "kimi-k2"
max_context_size = 262144
display_name = "Kimi"
"""


def lines(*records: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def turn(number: int, prompt: str) -> list[dict[str, Any]]:
    return [
        {"role": "_checkpoint", "id": number},
        {"role": "user", "content": prompt},
        {"role": "assistant", "content": [{"type": "text", "text": f"About {prompt}."}]},
    ]


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def theirs(tmp_path: Path, work_dir: Path) -> Path:
    """Return a data directory of Kimi CLI."""
    folder = tmp_path / ".kimi"
    key = hashlib.md5(str(work_dir).encode()).hexdigest()
    session = folder / "sessions" / key / "0c9d8f3a-1111-2222-3333-444455556666"
    session.mkdir(parents=True)
    (session / "context.jsonl").write_text(lines(*turn(0, "shoes"), *turn(1, "hats")))
    (session / "context_1.jsonl").write_text(lines(*turn(0, "shoes"), *turn(1, "coats"), *turn(2, "gloves")))
    (session / "wire.jsonl").write_text(lines({"type": "metadata", "protocol_version": "1.9"}))
    state = {
        "version": 1,
        "approval": {"yolo": True, "auto_approve_actions": ["run command"]},
        "custom_title": "What to wear",
        "additional_dirs": ["/tmp"],
        "todos": [{"title": "buy", "status": "in_progress"}],
    }
    (session / "state.json").write_text(json.dumps(state))
    (folder / "sessions" / key / "old.jsonl").write_text(lines(*turn(0, "rain")))
    (folder / "sessions" / key / "old_1.jsonl").write_text(lines(*turn(0, "snow")))
    (folder / "sessions" / key / "empty.jsonl").touch()
    (folder / "user-history").mkdir()
    (folder / "user-history" / f"{key}.jsonl").write_text(lines({"content": "first"}, {"content": "second"}))
    (folder / "config.toml").write_text(CONFIG)
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"time": {"command": "uvx", "args": ["t"]}}}))
    (folder / "kimi.json").write_text(json.dumps({"work_dirs": [{"path": str(work_dir)}]}))
    return folder


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    folder = tmp_path / "share"
    folder.mkdir()
    return folder


async def test_a_session_is_imported_with_title_todos_and_branches(
    theirs: Path, ours: Path, work_dir: Path
) -> None:
    import_all(open_data_dir(theirs), ours)
    session = SessionStore(ours).find("0c9d8f3a")
    assert (session.state.title, session.work_dir) == ("What to wear", work_dir)
    assert [todo.title for todo in session.state.todos] == ["buy"]
    context = Context(session.context_file)
    await context.restore()
    assert [message.text for message in context.history] == ["shoes", "About shoes.", "hats", "About hats."]
    tree = await context.tree()
    assert [node.checkpoint.id for node in tree.nodes.values()] == [0, 1, 3, 4]
    assert [branch.number for branch in tree.own_branches()] == [1]
    assert [known.id for known in tree.current_branch] == [0, 1]
    await context.restore_from_rotation(1)
    assert context.history[-1].text == "About gloves."
    await context.close()


def subagent(session: Path, name: str, status: str, prompt: str) -> None:
    folder = session / "subagents" / name
    folder.mkdir(parents=True)
    (folder / "context.jsonl").write_text(lines(*turn(0, prompt)))
    meta = {"agent_id": name, "subagent_type": "coder", "status": status, "description": f"Look at {prompt}"}
    meta |= {"created_at": 5.0, "updated_at": 6.0, "launch_spec": {"model_override": None}}
    (folder / "meta.json").write_text(json.dumps(meta))


def test_sub_agents_are_imported_with_their_session_and_can_resume(theirs: Path, ours: Path) -> None:
    (session,) = theirs.glob("sessions/*/0c9d8f3a*")
    subagent(session, "a0123abcd", "completed", "socks")
    subagent(session, "affffffff", "running_background", "ties")
    (session / "subagents" / "not-one").mkdir()
    report = import_all(open_data_dir(theirs), ours)
    assert "2 sessions, with 2 branches and 2 sub-agents" in report.imported
    folder = SessionStore(ours).find("0c9d8f3a").dir / "subagents"
    records = SubagentStore(folder)
    finished, running = records.find("a0123abcd"), records.find("affffffff")
    assert finished is not None
    assert running is not None
    assert (finished.kind, finished.status, finished.description) == ("coder", "finished", "Look at socks")
    assert running.status == "interrupted"
    assert "About socks." in records.context_file("a0123abcd").read_text()
    assert {path.name for path in folder.iterdir()} == {"a0123abcd", "affffffff"}


def test_skills_are_used_in_place(theirs: Path, ours: Path, tmp_path: Path) -> None:
    (theirs / "skills" / "brush").mkdir(parents=True)
    (theirs / "skills" / "brush" / "SKILL.md").write_text("---\nname: brush\ndescription: d\n---\n")
    (theirs / "config.toml").write_text(f'extra_skill_dirs = ["{tmp_path}/more"]\n{CONFIG}')
    report = import_all(open_data_dir(theirs), ours)
    assert f"skills: {theirs}/skills (used in place)" in report.imported
    settings = settings_of(read_config(data_dir=ours, work_dir=ours, environ={}))
    assert settings.extra_skill_dirs == (f"{tmp_path}/more", f"{theirs}/skills")
    assert not any(line.startswith("skills") for line in import_all(open_data_dir(theirs), ours).imported)


def test_tokens_are_not_copied_and_the_report_lists_sign_ins(theirs: Path, ours: Path) -> None:
    (theirs / "credentials").mkdir()
    (theirs / "credentials" / "kimi-code.json").write_text('{"access_token": "secret-token"}')
    (theirs / "config.toml").write_text(
        '[providers.coding]\ntype = "kimi"\nbase_url = "https://api.kimi.com/coding/v1"\n'
        'oauth = { storage = "file", key = "oauth/kimi-code" }\n'
    )
    report = import_all(open_data_dir(theirs), ours)
    texts = " ".join(report.follow_ups)
    assert "`kimi-tui login kimi --base-url https://api.kimi.com/coding/v1`" in texts
    assert "kimi-code" in texts
    assert not any("secret-token" in path.read_text() for path in ours.rglob("*") if path.is_file())


async def test_a_session_of_an_old_version_is_imported_with_its_branches(theirs: Path, ours: Path) -> None:
    import_all(open_data_dir(theirs), ours)
    session = SessionStore(ours).find("old")
    assert {path.name for path in session.dir.iterdir()} == {
        "context.jsonl",
        "context_1.jsonl",
        "state.json",
    }


def test_permissions_granted_to_kimi_cli_are_not_imported(theirs: Path, ours: Path) -> None:
    import_all(open_data_dir(theirs), ours)
    state = SessionStore(ours).find("0c9d8f3a").state
    assert (state.yolo, state.grants) == (False, ())


def test_the_last_used_session_stays_the_last_one(theirs: Path, ours: Path, work_dir: Path) -> None:
    import os

    (old,) = theirs.glob("sessions/*/old.jsonl")
    os.utime(old, (1, 1))
    import_all(open_data_dir(theirs), ours)
    last = SessionStore(ours).latest(work_dir)
    assert last is not None
    assert last.state.title == "What to wear"


def test_imported_files_are_private_and_the_originals_unchanged(theirs: Path, ours: Path) -> None:
    before = {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()}
    import_all(open_data_dir(theirs), ours)
    assert {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()} == before
    files = [path for path in ours.rglob("*") if path.is_file() and path.name != "index.jsonl"]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_a_second_import_changes_nothing(theirs: Path, ours: Path) -> None:
    import_all(open_data_dir(theirs), ours)
    before = {path: path.read_bytes() for path in ours.rglob("*") if path.is_file()}
    again = import_all(open_data_dir(theirs), ours)
    assert again.imported == []
    assert {path: path.read_bytes() for path in ours.rglob("*") if path.is_file()} == before


def test_existing_entries_are_kept_and_new_ones_added(theirs: Path, ours: Path) -> None:
    (ours / "config.toml").write_text('# mine\n[providers.moonshot]\ntype = "kimi"\napi_key = "sk-mine"\n')
    (ours / "mcp.json").write_text('{"mcpServers": {"time": {"command": "mine"}}}')
    (theirs / "mcp.json").write_text('{"mcpServers": {"time": {"command": "x"}, "web": {"url": "http://h"}}}')
    report = import_all(open_data_dir(theirs), ours)
    config = (ours / "config.toml").read_text()
    assert config.startswith("# mine")
    assert ("sk-mine" in config, "sk-theirs" in config, "kimi-for-coding" in config) == (True, False, True)
    servers = json.loads((ours / "mcp.json").read_text())["mcpServers"]
    assert (servers["time"]["command"], servers["web"]["url"]) == ("mine", "http://h")
    assert report.problems == []


def test_imported_input_history_comes_before_existing_entries(theirs: Path, ours: Path) -> None:
    (file,) = (theirs / "user-history").iterdir()
    (ours / "user-history").mkdir()
    (ours / "user-history" / file.name).write_text(lines({"content": "second"}, {"content": "third"}))
    import_all(open_data_dir(theirs), ours)
    texts = [
        json.loads(line)["content"] for line in (ours / "user-history" / file.name).read_text().splitlines()
    ]
    assert texts == ["first", "second", "third"]


def test_existing_input_history_keeps_its_line_separators(theirs: Path, ours: Path) -> None:
    (file,) = (theirs / "user-history").iterdir()
    mine = json.dumps({"content": "two\u2028lines\x85"}, ensure_ascii=False)
    (ours / "user-history").mkdir()
    (ours / "user-history" / file.name).write_text(f"{mine}\n", encoding="utf-8")
    import_all(open_data_dir(theirs), ours)
    assert (ours / "user-history" / file.name).read_text("utf-8").split("\n")[-2] == mine


def test_an_error_in_one_part_does_not_affect_the_others(theirs: Path, ours: Path) -> None:
    (theirs / "config.toml").write_text("default_model = [")
    (theirs / "kimi.json").write_text("nonsense")
    report = import_all(open_data_dir(theirs), ours)
    assert [problem.partition(":")[0] for problem in report.problems] == ["Config"]
    assert "2 sessions, with 2 branches" in report.imported
    assert any("Unknown working directory" in note for note in report.notes)


def test_a_directory_without_kimi_cli_data_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="isn't a data directory"):
        open_data_dir(tmp_path)
    with pytest.raises(UsageError, match="isn't a directory"):
        open_data_dir(tmp_path / "missing")


def test_the_command_reports_imports_and_no_key(program: Program, theirs: Path) -> None:
    done = program.run("import", str(theirs))
    assert done.exit_code == 0, done.stderr
    assert "+ 2 sessions, with 2 branches" in done.stdout
    assert "used by Kimi CLI only: telemetry." in done.stdout
    assert "sk-theirs" not in done.stdout + done.stderr
    assert "What to wear" in program.run("sessions", "list").stdout


def test_the_first_start_offers_the_import_once(program: Program, terminal: Terminal, theirs: Path) -> None:
    child = terminal.start("--demo")
    child.expect(r"\[y/N\]\? ")
    child.sendline("y")
    child.expect("2 sessions")
    child.expect("demo")
    child.send("\x04")
    child.expect_exact("\x1b[?1049l")
    assert (program.data_dir / "config.toml").read_text() == CONFIG
    again = terminal.start("--demo")
    again.expect_exact("\x1b[?1049h")
    assert "Kimi CLI" not in (again.before or "")


def everything_that_kimi_cli_writes(**more: Any) -> str:
    """Return a config as Kimi CLI 1.49 saves it: all keys, with their defaults."""
    settings = {
        "default_yolo": False,
        "skip_afk_prompt_injection": False,
        "default_plan_mode": False,
        "theme": "dark",
        "show_thinking_stream": True,
        "merge_all_available_skills": True,
        "telemetry": True,
        "loop_control": {"max_steps_per_turn": 1000, "max_ralph_iterations": 0},
        "background": {"max_running_tasks": 4, "keep_alive_on_exit": False},
        "mcp": {"client": {"tool_call_timeout_ms": 60000}},
    }
    return json.dumps({**settings, **more})


def test_keys_of_later_versions_are_skipped_with_a_note(program: Program, theirs: Path) -> None:
    (theirs / "config.toml").unlink()
    later = {
        "new_in_kimi_cli": 1,
        "models": {"m": {"provider": "p", "model": "m", "max_context_size": 9, "new": 2}},
        "providers": {"p": {"type": "kimi", "api_key": "k"}},
    }
    (theirs / "config.json").write_text(everything_that_kimi_cli_writes(**later))
    done = program.run("import", str(theirs))
    assert done.exit_code == 0, done.stdout
    assert "unknown setting new_in_kimi_cli." in done.stdout
    assert "unknown setting models.m.new." in done.stdout
    checked = program.run("config", "check")
    assert checked.exit_code == 0, checked.stdout
    assert "unknown setting new_in_kimi_cli." in checked.stdout


def test_settings_that_kimi_tui_cannot_use_are_left_out(program: Program, theirs: Path) -> None:
    (theirs / "config.toml").write_text(
        f'# mine\nwhat_is_this = 1 # this\ntheme = "neon"\n{CONFIG}'
        '[models.broken]\nprovider = "moonshot"\n[loop_control]\nmax_steps_per_run = "many"\n'
        '[[hooks]]\nevent = "Later"\ncommand = "true"\n[[hooks]]\nevent = "Stop"\ncommand = "false"\n'
    )
    done = program.run("import", str(theirs))
    assert done.exit_code == 0, done.stdout
    assert 'theme is "neon".' in done.stdout
    config = (program.data_dir / "config.toml").read_text()
    assert "neon" not in config
    settings = settings_of(read_config(data_dir=program.data_dir, work_dir=theirs, environ={}))
    assert set(settings.models) == {"kimi-for-coding"}
    assert [hook.event for hook in settings.hooks] == ["Stop"]
    assert program.run("config", "check").exit_code == 0


def test_an_unknown_key_in_kimi_tuis_own_table_is_an_error(program: Program) -> None:
    program.configure("telemetry = true\n[permissions]\ndany = []\n")
    checked = program.run("config", "check")
    assert checked.exit_code == 1
    assert "unknown setting permissions.dany" in checked.stdout
