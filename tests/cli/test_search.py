"""`kimi-tui search`."""

import json

from tests.session_search.session_files import SessionFiles


def test_messages_are_printed_with_their_session_and_checkpoint(program):
    session = SessionFiles(program.data_dir, "s-login")
    session.add_prompt("The login form returns 500")
    session.add_prompt("登录表单返回 500\nplease")

    done = program.run("search", "500")
    lines = done.stdout.splitlines()
    assert (done.exit_code, len(lines)) == (0, 2)
    assert lines[0].startswith("s-login  1970-01-01 ")
    assert lines[0].endswith("#1: 登录表单返回 500 please")
    assert program.run("search", "登录").stdout == lines[0] + "\n"
    assert program.run("search", "-n", "1", "500").stdout == lines[0] + "\n"
    (match,) = [
        json.loads(line) for line in program.run("search", "--json", "login form").stdout.splitlines()
    ]
    assert (match["session_id"], match["checkpoint"], match["speaker"]) == ("s-login", 0, "user")


def test_without_a_match_the_exit_code_is_1(program):
    done = program.run("search", "nothing")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "No message contains these words." in done.stderr


def test_control_characters_are_not_printed(program):
    SessionFiles(program.data_dir).add_prompt("red \x1b[31mneedle\x1b[0m")
    assert "\x1b" not in program.run("search", "needle").stdout
