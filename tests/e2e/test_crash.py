"""A defect of ours in the running app: the terminal is itself again, nothing is lost, the log is named."""

import sys

import pytest

from tests.e2e.program import Program
from tests.e2e.screen import Screen

FAULTY = """
import sys
from kimi_tui.cli.main import run
from kimi_tui.tui.prompt.prompt import Prompt

def fail(self):
    api_key = "sk-local-variable-1"
    raise RuntimeError("the roof fell in, api_key=sk-1234567890abcdef")

Prompt.key_f12 = fail
sys.argv = ["kimi-tui", "--demo", *sys.argv[1:]]
run()
"""


@pytest.fixture
def faulty(tmp_path):
    program = Program(tmp_path)
    binary = tmp_path / "kimi-tui-with-a-defect"
    binary.write_text(f"#!{sys.executable}\n{FAULTY}")
    binary.chmod(0o700)
    screen = Screen(program, binary=str(binary))
    yield screen
    screen.close()


def test_a_crash_gives_the_terminal_back_keeps_the_draft_and_says_where_the_log_is(faulty, tmp_path):
    faulty.until("demo")
    faulty.type("a thought that is not sent")
    faulty.until("not sent")
    faulty.type("\x1b[24~")
    assert faulty.exit_code() == 1
    told = " ".join(faulty.text.split())
    assert "kimi-tui ended by an internal error: RuntimeError: the roof fell in" in told
    assert "kimi-tui.log" in told.replace(" ", "")
    assert "kimi-tui --continue" in told
    log = (tmp_path / "share" / "logs" / "kimi-tui.log").read_text()
    assert "Traceback" in log
    assert "the roof fell in" in log
    assert "sk-1234567890" not in told + log
    assert "sk-local" not in told + log
    again = Screen(Program(tmp_path), "--demo")
    again.until("a thought that is not sent")
    again.close()
