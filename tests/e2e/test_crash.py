"""An internal error in the running app: the terminal is restored, the draft is saved, the error names the
log.
"""

import sys

import pytest

from tests.e2e.program import Program
from tests.e2e.screen import Screen

FAULTY = """
import sys
from kimi_tui.cli.main import run
from kimi_tui.tui.prompt.prompt import PromptBox

def fail(self):
    api_key = "sk-local-variable-1"
    raise RuntimeError("test failure, api_key=sk-1234567890abcdef")

PromptBox.key_f12 = fail
sys.argv = ["kimi-tui", "--demo", *sys.argv[1:]]
run()
"""


@pytest.fixture
def crashing_program(tmp_path):
    program = Program(tmp_path)
    binary = tmp_path / "crashing-kimi-tui"
    binary.write_text(f"#!{sys.executable}\n{FAULTY}")
    binary.chmod(0o700)
    screen = Screen(program, binary=str(binary))
    yield screen
    screen.close()


def test_a_crash_restores_the_terminal_saves_the_draft_and_names_the_log(crashing_program, tmp_path):
    crashing_program.wait_for("demo")
    crashing_program.type("a thought that is not sent")
    crashing_program.wait_for("not sent")
    crashing_program.type("\x1b[24~")
    assert crashing_program.exit_code() == 1
    text = " ".join(crashing_program.text.split())
    assert "kimi-tui crashed with an internal error: RuntimeError: test failure" in text
    assert "kimi-tui.log" in text.replace(" ", "")
    assert "kimi-tui --continue" in text
    log = (tmp_path / "share" / "logs" / "kimi-tui.log").read_text()
    assert "Traceback" in log
    assert "test failure" in log
    assert "sk-1234567890" not in text + log
    assert "sk-local" not in text + log
    restarted = Screen(Program(tmp_path), "--demo")
    restarted.wait_for("a thought that is not sent")
    restarted.close()
