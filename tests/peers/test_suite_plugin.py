"""The plugin for Kimi CLI's own end-to-end suite, with a suite of three tests."""

from pathlib import Path

from tests.peers.__main__ import run_tests_of_suite

SUITE = """
import subprocess
from inline_snapshot import snapshot

def base_command():
    return ["no-such-program", "--agent", "kimi"]

def _session_dir(home):
    return home / "sessions" / "project"

def test_texts_differ():
    assert {"text": "ours"} == snapshot({"text": "theirs"})

def test_a_subcommand():
    assert subprocess.run([*base_command(), "--version"]).returncode == 0

def test_sessions_are_found(tmp_path):
    for name in ("one", "locks"):
        (tmp_path / "tui-sessions" / "project" / name).mkdir(parents=True)
    assert [path.name for path in _session_dir(tmp_path).iterdir()] == snapshot(["one"])
"""


def test_a_suite_runs_verbatim_and_by_shape(tmp_path: Path) -> None:
    suite = tmp_path / "tests_e2e"
    suite.mkdir()
    (suite / "test_three.py").write_text(SUITE)
    summary, *failed = run_tests_of_suite(suite, {}).splitlines()
    assert summary.startswith("1 failed, 2 passed"), (summary, failed)
    assert "test_texts_differ" in failed[0]
    assert run_tests_of_suite(suite, {"KIMI_TUI_PEER_SHAPE": "1"}).startswith("3 passed")
