"""Command-line options and signals with the app in a real terminal."""

import json
import signal
import time

import pytest

from kimi_tui.base.paths import work_dir_key

ENTERED, LEFT = "\x1b[?1049h", "\x1b[?1049l"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_closes_the_session_and_restores_the_terminal(terminal, number, code):
    child = terminal.start("--demo")
    child.expect_exact(ENTERED)
    child.expect("demo")
    child.kill(number)
    child.expect_exact(LEFT)
    child.wait()
    assert child.exitstatus == code


def test_a_prompt_is_sent_when_the_app_opens(terminal):
    child = terminal.start("--demo", "hello there")
    child.expect_exact(ENTERED)
    child.expect("hello")
    child.expect("demo")


def test_a_session_is_chosen_from_a_list(program, terminal):
    for name, age in (("older", 100), ("newer", 10)):
        folder = program.data_dir / "tui-sessions" / work_dir_key(program.work_dir) / name
        folder.mkdir(parents=True)
        (folder / "context.jsonl").write_text(
            json.dumps({"role": "user", "content": f"the {name} words"}) + "\n"
        )
        state = {"title": f"the {name} one", "work_dir": str(program.work_dir), "updated": time.time() - age}
        (folder / "state.json").write_text(json.dumps(state))
    child = terminal.start("--demo", "--screen-reader", "-r")
    child.expect_exact("Which session (1-2, enter for 1)?")
    assert "the older one" in child.before
    chosen = next(line for line in child.before.splitlines() if "older" in line).split()[0]
    child.send("\x1b")
    child.sendline("7")
    child.expect_exact("Which session")
    assert "^[" not in child.before
    child.sendline(chosen)
    child.expect("the older words")


def test_resume_without_an_id_opens_the_list_of_sessions_in_the_app(program, terminal):
    folder = program.data_dir / "tui-sessions" / work_dir_key(program.work_dir) / "older"
    folder.mkdir(parents=True)
    (folder / "context.jsonl").write_text(json.dumps({"role": "user", "content": "the older words"}) + "\n")
    state = {"title": "the older one", "work_dir": str(program.work_dir), "updated": time.time()}
    (folder / "state.json").write_text(json.dumps(state))
    child = terminal.start("--demo", "-r")
    child.expect_exact(ENTERED)
    child.expect_exact("in this directory")
    child.expect_exact("the older words")
    child.send("\x1b")
    child.send("\x11")
    child.expect_exact(LEFT)


def test_without_sessions_to_choose_from_is_a_usage_error(terminal):
    child = terminal.start("--demo", "--screen-reader", "-r")
    text = child.read()
    child.wait()
    assert child.exitstatus == 2
    assert "No sessions in" in text
